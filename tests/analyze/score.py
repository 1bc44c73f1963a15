"""Precision and recall of each table on code that was labelled by reading: `python tests/analyze/score.py [-v]`.

A label file names a project and what a reader found in it. Each list is complete for the files it speaks of, so that what
`analyze` shows beyond it is an error too.

    project = "tests/projects/vae"            or "site-packages:torchvision/models/detection"
    tricks  = ["optimizer | Adam | lr=0.001"] a label without a value matches any value
    keep    = ["main.py:Bars.__len__"]        functions that stay; all others of the project move
    dynamic = ["main.py:31"]                  lines where a shape starts to depend on data
    version = "torchvision 0.28.0"            the package and version that was read
    files   = ["roi_heads.py"]                if given, only these files are labelled
    special = ["hook | main.py:7"]            a kind and a line
    networks = ["VAE"]                        networks that nothing else in the project holds
    missing = ["torch.autograd.grad"]         APIs that MindSpore has no counterpart for
"""

from __future__ import annotations

import importlib.metadata
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from mindferry.analyze import analyze_project
from mindferry.artifacts import Inventory

ROOT = Path(__file__).parents[2]
LABELS = Path(__file__).parent / "labels"


@dataclass
class Score:
    right: int = 0
    wrong: list[str] = field(default_factory=list)  # shown, not labelled
    missed: list[str] = field(default_factory=list)  # labelled, not shown

    @property
    def precision(self) -> float:
        return self.right / max(self.right + len(self.wrong), 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + len(self.missed), 1)


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


def shown_networks(inventory: Inventory) -> list[str]:
    return [each.name for each in inventory.parts if each.kind == "network"]


def shown_keep(inventory: Inventory) -> list[str]:
    return [f"{each.path}:{each.function}" for each in inventory.code if each.function and not each.is_migrated]


SHOWN: dict[str, Callable[[Inventory], list[str]]] = {
    "tricks": shown_tricks, "keep": shown_keep, "dynamic": shown_dynamic, "special": shown_special, "networks": shown_networks,
    "missing": shown_missing,
}  # fmt: skip


def is_labelled(fact: str, body: dict[str, list[str]]) -> bool:
    """Whether the fact is about one of the files that the labels speak of; its file stands last, before a colon."""
    file = fact.rpartition(" | ")[2].partition(":")[0]
    return "files" not in body or file in body["files"]


def compare(name: str, labels: list[str], shown: list[str], score: Score) -> None:
    left = list(shown)
    for label in labels:
        match = next((each for each in left if each == label), None) or next(
            (each for each in left if each.startswith(f"{label} | ")), None
        )
        if match is None:
            score.missed.append(f"{name}: {label}")
        else:
            left.remove(match)
            score.right += 1
    score.wrong += [f"{name}: {each}" for each in left]


def measure() -> dict[str, Score]:
    scores = {table: Score() for table in (*SHOWN, "move")}
    for path in sorted(LABELS.glob("*.toml")):
        body = tomllib.loads(path.read_text("utf-8"))
        if not is_here(body):
            print(f"left out: {path.name}, labelled for {body['version']}", file=sys.stderr)
            continue
        inventory = analyze_project(place(body["project"]))
        for table, show in SHOWN.items():
            if table in body:
                shown = [each for each in show(inventory) if is_labelled(each, body)]
                compare(path.stem, body[table], shown, scores[table])
        if "keep" in body:  # the other side of the same table
            functions = [f"{each.path}:{each.function}" for each in inventory.code if each.function]
            functions = [each for each in functions if is_labelled(each, body)]
            moved = [each for each in functions if each not in shown_keep(inventory)]
            compare(path.stem, [each for each in functions if each not in body["keep"]], moved, scores["move"])
    return scores


def main() -> None:
    scores = measure()
    print(f"{'table':10} {'facts':>6} {'precision':>10} {'recall':>8}")
    for table, score in scores.items():
        print(f"{table:10} {score.right + len(score.missed):6} {score.precision:10.3f} {score.recall:8.3f}")
    facts = sum(score.right + len(score.missed) for score in scores.values())
    print(f"{facts} facts in {len(list(LABELS.glob('*.toml')))} projects")
    if "-v" in sys.argv:
        for table, score in scores.items():
            for each in score.wrong:
                print(f"{table}: shown, not labelled: {each}")
            for each in score.missed:
                print(f"{table}: labelled, not shown: {each}")


if __name__ == "__main__":
    main()
