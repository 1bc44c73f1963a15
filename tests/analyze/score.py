"""Precision and recall of each table on code that was labelled by reading: `python tests/analyze/score.py [-v] [--batch NAME]`.

A label file names a project and what a reader found in it. Each list is complete for the files it speaks of, so that what
`analyze` shows beyond it is an error too. `blind.tsv` keeps what came out the first time that analyze saw a batch.

    project = "tests/projects/vae"            or "site-packages:torchvision/models/detection"
    batch   = "first blind"                   labelled before analyze had been run on it; tuned on since, if it is an earlier batch
    version = "torchvision 0.28.0"            the package and version that was read
    files   = ["roi_heads.py"]                if given, only these files are labelled
    tricks  = ["optimizer | Adam | lr=0.001"] a label without a value matches any value
    keep    = ["main.py:Bars.__len__"]        functions that stay; all others of the project move
    keep_files = ["vocab.py"]                 files in which nothing moves
    kinds   = ["main.py:Net.forward | execution"]  what some functions are for; the only list that is not complete
    dynamic = ["main.py:31"]                  lines where a shape starts to depend on data
    special = ["hook | main.py:7"]            a kind and a line
    parts   = ["network | VAE"]               networks, blocks, datasets, entry points; `networks` is the same for networks alone
    missing = ["torch.autograd.grad"]         APIs that MindSpore has no counterpart for
    ports   = ["resnet | MindCV"]             features = ["graph mode | main.py:40"]
"""

from __future__ import annotations

import importlib.metadata
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from mindferry.analyze import analyze_project
from mindferry.apis import table
from mindferry.apis._lookup import rule_of
from mindferry.artifacts import Inventory

ROOT = Path(__file__).parents[2]
LABELS = Path(__file__).parent / "labels"
BLIND = Path(__file__).parent / "blind.tsv"
Body = dict[str, list[str]]


@dataclass
class Score:
    right: int = 0
    wrong: list[str] = field(default_factory=list)  # shown, not labelled
    missed: list[str] = field(default_factory=list)  # labelled, not shown

    @property
    def facts(self) -> int:
        return self.right + len(self.missed)

    @property
    def precision(self) -> float:
        return self.right / max(self.right + len(self.wrong), 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.facts, 1)


def place(name: str) -> Path:
    package, _, rest = name.removeprefix("site-packages:").partition("/")
    if not name.startswith("site-packages:"):
        return ROOT / name
    spec = find_spec(package)  # finds it without importing it
    assert spec is not None and spec.origin is not None, f"{package} is not installed"
    return Path(spec.origin).parent / rest


def is_here(body: dict[str, str]) -> bool:
    """Lines were labelled in one version of a package; in another they stand elsewhere."""
    package, _, version = body.get("version", "").partition(" ")
    try:
        return not package or importlib.metadata.version(package) == version
    except importlib.metadata.PackageNotFoundError:
        return False


def shown_tricks(inventory: Inventory) -> list[str]:
    return [f"{each.topic} | {each.name} | {each.value}" for each in inventory.tricks]


def shown_dynamic(inventory: Inventory) -> list[str]:
    return list(dict.fromkeys(f"{each.path}:{each.line}" for each in inventory.dynamic))


def shown_special(inventory: Inventory) -> list[str]:
    return list(dict.fromkeys(f"{each.topic} | {each.path}:{each.line}" for each in inventory.special))


def shown_missing(inventory: Inventory) -> list[str]:
    return sorted({each.api for each in inventory.apis if each.kind in ("missing", "unknown")})


def shown_parts(inventory: Inventory) -> list[str]:
    return [f"{each.kind} | {each.name}" for each in inventory.parts]


def shown_networks(inventory: Inventory) -> list[str]:
    return [each.name for each in inventory.parts if each.kind == "network"]


def shown_keep(inventory: Inventory) -> list[str]:
    return [f"{each.path}:{each.function}" for each in inventory.code if each.function and not each.is_migrated]


def shown_ports(inventory: Inventory) -> list[str]:
    return [f"{each.name} | {each.collection}" for each in inventory.ports]


def shown_features(inventory: Inventory) -> list[str]:
    return [f"{each.topic} | {each.path}:{each.line}" for each in inventory.features]


SHOWN: dict[str, Callable[[Inventory], list[str]]] = {
    "tricks": shown_tricks,
    "keep": shown_keep,
    "dynamic": shown_dynamic,
    "special": shown_special,
    "networks": shown_networks,
    "parts": shown_parts,
    "missing": shown_missing,
    "ports": shown_ports,
    "features": shown_features,
}
TABLES = ("tricks", "keep", "move", "files", "kinds", "parts", "missing", "dynamic", "special", "ports", "features")


def is_labelled(fact: str, body: Body) -> bool:
    """Whether the fact is about one of the files that the labels speak of; its file stands last, before a colon."""
    file = fact.rpartition(" | ")[2].partition(":")[0]
    return "files" not in body or file in body["files"]


def compare(name: str, labels: list[str], shown: list[str], score: Score) -> None:
    """The labels with a value take their rows first, so that one without can't take them away."""
    left = list(shown)
    for label in sorted(labels, key=lambda each: each not in left):
        match = next((each for each in left if each == label), None) or next(
            (each for each in left if each.startswith(f"{label} | ")), None
        )
        if match is None:
            score.missed.append(f"{name}: {label}")
        else:
            left.remove(match)
            score.right += 1
    score.wrong += [f"{name}: {each}" for each in left]


def compare_code(name: str, body: Body, inventory: Inventory, scores: dict[str, Score]) -> None:
    """Functions that move, files that stay, and what some functions are for: other sides of the table that `keep` labels."""
    entries = [each for each in inventory.code if each.function and is_labelled(f"{each.path}:", body)]
    functions = [f"{each.path}:{each.function}" for each in entries]
    moved = [f"{each.path}:{each.function}" for each in entries if each.is_migrated]
    compare(name, [each for each in functions if each not in body["keep"]], moved, scores["move"])
    if "keep_files" in body:
        files = {each.path for each in entries}  # those that hold more than imports
        kept = files - {each.path for each in inventory.code if each.is_migrated}
        labels = [f"{path} {'stays' if path in body['keep_files'] else 'moves'}" for path in files]
        compare(name, labels, [f"{path} {'stays' if path in kept else 'moves'}" for path in files], scores["files"])
    wanted = {each.partition(" | ")[0] for each in body.get("kinds", [])}
    shown = [
        f"{each.path}:{each.function} | {each.kind}" for each in entries if f"{each.path}:{each.function}" in wanted
    ]
    compare(name, body.get("kinds", []), shown, scores["kinds"])


def label_files(batch: str = "") -> Iterator[tuple[str, Body]]:
    for path in sorted(LABELS.glob("*.toml")):
        body = tomllib.loads(path.read_text("utf-8"))
        if batch and body.get("batch", "") != batch:
            continue
        if is_here(body):
            yield path.stem, body
        else:
            print(f"left out: {path.name}, labelled for {body['version']}", file=sys.stderr)


def still_missing(labels: list[str]) -> list[str]:
    """The labels are of MindSpore and of the rules as they were; an API that has gained a rule since is no longer missing."""
    rules = table()
    covered = [each for each in labels if (entry := rule_of(each, rules)) is not None and not entry.missing]
    for each in covered:
        print(f"left out: {each} was labelled as missing and has a rule now", file=sys.stderr)
    return [each for each in labels if each not in covered]


def measure(batch: str = "") -> dict[str, Score]:
    scores = {name: Score() for name in TABLES}
    for name, body in label_files(batch):
        inventory = analyze_project(place(str(body["project"])))
        for kind, show in SHOWN.items():
            if kind in body:
                shown = [each for each in show(inventory) if is_labelled(each, body)]
                labels = still_missing(body[kind]) if kind == "missing" else body[kind]
                compare(name, labels, shown, scores["parts" if kind == "networks" else kind])
        if "keep" in body:
            compare_code(name, body, inventory, scores)
    return scores


def blind() -> dict[str, dict[str, str]]:
    """batch -> table -> precision and recall of the first run."""
    found: dict[str, dict[str, str]] = {}
    for line in BLIND.read_text("utf-8").splitlines()[1:] if BLIND.exists() else []:
        batch, name, facts, precision, recall = line.split("\t")
        found.setdefault(batch, {})[name] = f"{precision} {recall} ({facts})"
    return found


def main() -> None:
    batch = sys.argv[sys.argv.index("--batch") + 1] if "--batch" in sys.argv else ""
    scores, first = measure(batch), blind()
    print(f"{'table':10} {'facts':>6} {'precision':>10} {'recall':>8}" + "".join(f"   {each:>19}" for each in first))
    for name, score in scores.items():
        beside = "".join(f"   {each.get(name, ''):>19}" for each in first.values())
        print(f"{name:10} {score.facts:6} {score.precision:10.3f} {score.recall:8.3f}{beside}")
    names = [body["project"] for _, body in label_files(batch)]
    print(f"{sum(score.facts for score in scores.values())} facts in {len(set(map(str, names)))} projects")
    if "-v" in sys.argv:
        for name, score in scores.items():
            for each in score.wrong:
                print(f"{name}: shown, not labelled: {each}")
            for each in score.missed:
                print(f"{name}: labelled, not shown: {each}")
    if "--record" in sys.argv and batch:  # once, when a batch is new
        rows = [
            f"{batch}\t{name}\t{each.facts}\t{each.precision:.2f}\t{each.recall:.2f}" for name, each in scores.items()
        ]
        head = BLIND.read_text("utf-8") if BLIND.exists() else "batch\ttable\tfacts\tprecision\trecall\n"
        BLIND.write_text(head + "\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
