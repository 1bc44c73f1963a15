"""`make libraries`: convert, run both sides in processes of their own, compare, write docs/reference/libraries.md. Goes on where it stopped."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from .models import networks
from .network import Network
from .outcome import Outcome
from .page import page

WORKER = Path(__file__).with_name("worker.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", required=True, help="folder with the libraries")
    parser.add_argument("--work", default="build/libraries", help="folder for what is made")
    parser.add_argument("--only", nargs="*", default=[], help="names, or libraries")
    parser.add_argument("--group", type=int, default=10, help="networks that are converted as one project")
    parser.add_argument("--again", action="store_true", help="forget what was measured")
    parser.add_argument("--page", default="docs/reference/libraries.md")
    parser.add_argument(
        "--batch", help="another batch, by its seed: for a network that has an input at an activation's kink"
    )
    options = parser.parse_args()
    if options.batch:
        os.environ["LIBRARIES_BATCH"] = options.batch
    work = Path(options.work).resolve()
    wanted = [each for each in networks() if not options.only or {each.name, each.library} & set(options.only)]
    todo = [each for each in wanted if options.again or not noted(work, each).exists()]
    for library in dict.fromkeys(each.library for each in todo):
        of_library = [each for each in todo if each.library == library]
        for start in range(0, len(of_library), options.group):
            measure(of_library[start : start + options.group], library, work, options.site)
    done = [load(work, each) for each in networks() if noted(work, each).exists()]
    if options.page != "-":
        place = Path(options.page)
        place.write_text(page(done, place.read_text() if place.exists() else ""))
    for each in done:
        if (each.library, each.name) in {(one.library, one.name) for one in wanted}:
            print(f"{each.library:13} {each.name:30} {shown(each.forward)} {shown(each.gradient)} {each.error[:220]}")


def shown(value: float | None) -> str:
    return "   -    " if value is None else f"{value:8.1e}"


def noted(work: Path, network: Network) -> Path:
    return work / "results" / network.library / f"{network.name}.json"


def load(work: Path, network: Network) -> Outcome:
    return Outcome(**json.loads(noted(work, network).read_text()))


def measure(group: list[Network], library: str, work: Path, site: str) -> None:
    results = work / "results" / library
    source, target = (work / f"{kind}_{library}_{group[0].name}" for kind in ("project", "converted"))
    for folder in (results, source):
        folder.mkdir(parents=True, exist_ok=True)
    for network in group:
        (source / f"net_{network.name}.py").write_text(f"{network.text}\n\nBATCH = {network.batch!r}\n")
    subprocess.run(["rm", "-rf", str(target)], check=True)
    words = ["convert", str(source), "-o", str(target), "--with", library, "--site", site, "-j", "1"]
    subprocess.run([sys.executable, "-m", "mindferry", *words], check=False, stdout=subprocess.DEVNULL)
    for side, folder in (("torch", source), ("mindspore", target)):
        left = [
            each.name for each in group if not (results / f"{each.name}.{side}.npz").exists() or side == "mindspore"
        ]
        left = [name for name in left if side == "torch" or (results / f"{name}.torch.npz").exists()]
        while left:
            for name in left:
                (results / f"{name}.{side}.error").unlink(missing_ok=True)
                (results / f"{name}.begun").unlink(missing_ok=True)
                (results / f"{name}.tokens").unlink(missing_ok=True)
            run(side, folder, results, site, left)
            begun = [name for name in left if (results / f"{name}.begun").exists()]
            last = begun[-1] if begun else left[0]
            is_done = any((results / f"{last}.{side}{end}").exists() for end in (".npz", ".error"))
            if not is_done:
                (results / f"{last}.{side}.error").write_text("the process ended")
            left = left[left.index(last) + 1 :]
    modules = len(list((target / "ported").rglob("*.py")))
    for network in group:
        version, today = version_of(library, site), f"{datetime.date.today().isoformat()}, {commit()}{batch()}"
        outcome = replace(compare(network, results, modules), version=version, measured=today)
        noted(work, network).write_text(json.dumps(asdict(outcome)))
        if outcome.agrees and outcome.gradients_agree:  # they are large
            for arrays in results.glob(f"{network.name}.*.npz"):
                arrays.unlink()
        print(f"{network.name:32} {shown(outcome.forward)} {shown(outcome.gradient)} {outcome.error[:300]}", flush=True)


def run(side: str, folder: Path, results: Path, site: str, names: list[str]) -> None:
    words = [sys.executable, str(WORKER), side, str(folder), str(results), site, *names]
    try:
        subprocess.run(words, check=False, timeout=300 + 180 * len(names), env={**os.environ}, capture_output=True)
    except subprocess.TimeoutExpired:
        return


def compare(network: Network, results: Path, modules: int) -> Outcome:
    import numpy as np

    errors = [results / f"{network.name}.{side}.error" for side in ("torch", "mindspore")]
    said = " | ".join(f"{path.suffixes[0][1:]}: {path.read_text().strip()}" for path in errors if path.exists())
    if (generated := results / f"{network.name}.tokens").exists():
        said = " | ".join(filter(None, (said, generated.read_text().strip())))
    forward = gradient = None
    try:
        theirs, ours = (
            np.load(results / f"{network.name}.torch.npz"),
            np.load(results / f"{network.name}.mindspore.npz"),
        )
    except OSError:
        return Outcome(network.library, network.name, modules, None, None, said or "nothing came out")
    own_forward = own_gradient = None
    forward = difference(theirs["out"], ours["out"])
    if "exact" in theirs.files and theirs["exact"].shape == theirs["out"].shape:
        forward, own_forward = (difference(theirs["exact"], each["out"]) for each in (ours, theirs))
    names = [key[2:] for key in ours.files if key.startswith("g/") and ours[key].size]
    if names:
        gradient = largest_of(ours, "r", "g", names)
        if own_forward is not None:
            gradient, own_gradient = (largest_of(ours, "x", kind, names) for kind in "gr")
    if not bool(ours["complete"]):
        said += " not all weights found their place"
    return Outcome(
        network.library,
        network.name,
        modules,
        forward,
        gradient,
        said,
        alike(theirs, ours),
        own_forward=own_forward,
        own_gradient=own_gradient,
    )


def largest_of(arrays: Any, right: str, found: str, names: list[str]) -> float:
    """The largest difference between two kinds of gradients, of the largest that is right."""
    import numpy as np

    scale = max(float(np.abs(arrays[f"{right}/{name}"]).max()) for name in names) or 1.0
    return max(float(np.abs(arrays[f"{right}/{name}"] - arrays[f"{found}/{name}"]).max()) for name in names) / scale


def alike(theirs: Any, ours: Any) -> int | None:
    """How many tokens are the same until the first that differs, in the sentence where that comes first."""
    import numpy as np

    if "tokens" not in theirs.files:
        return None
    if "tokens" not in ours.files or theirs["tokens"].shape != ours["tokens"].shape:
        return 0
    differ = (theirs["tokens"] != ours["tokens"])[:, -20:].any(axis=0)
    return int(np.argmax(differ)) if differ.any() else 20


def commit() -> str:
    words = ["git", "-C", str(WORKER.parent), "rev-parse", "--short=7", "HEAD"]
    return subprocess.run(words, check=False, capture_output=True, text=True).stdout.strip()


def batch() -> str:
    seed = os.environ.get("LIBRARIES_BATCH")
    return f", batch {seed}" if seed else ""


def version_of(library: str, site: str) -> str:
    found = list(metadata.distributions(name=library, path=[site, *sys.path]))
    return found[0].version if found else ""


def difference(theirs: Any, ours: Any) -> float:
    import numpy as np

    if theirs.shape != ours.shape or not theirs.size:
        return float("inf")
    return float(np.abs(theirs - ours).max() / (np.abs(theirs).max() or 1.0))


if __name__ == "__main__":
    main()
