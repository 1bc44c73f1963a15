"""Model zoos: convert torchvision's and timm's sources, build every model in both frameworks, compare.

    python -m conformance.zoo --zoo torchvision [--only resnet18 vit_b_16] [--failed] [--again] [--page]

Resumable: results are appended to build/zoo/<zoo>.jsonl, the last line of a model counts. A model that crashes or hangs
costs its worker, not the sweep.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.frameworks.process import Worker, WorkerError
from mindferry.progress import progress

from .zoo_page import METRIC, write_page
from .zoo_run import GRADIENT

BUILD = Path("build/zoo")
FORWARD = 1e-4
INPUTS = 3  # images that are tried where gradients differ: the first one counts, the others tell what it is
SILENCE = 240  # seconds in which a model must say what it does next
CALLS = 12  # models a worker runs before a fresh one takes over: compiled graphs stay in memory


def main() -> None:
    parser = argparse.ArgumentParser(prog="conformance.zoo", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--zoo", choices=("torchvision", "timm"), required=True)
    parser.add_argument("--only", nargs="*", default=[], help="measure these models, measured before or not")
    parser.add_argument("--failed", action="store_true", help="measure again what is not the same yet")
    parser.add_argument("--again", action="store_true", help="convert and measure everything again")
    parser.add_argument("--no-convert", action="store_true", help="measure the conversion that is there")
    parser.add_argument("--no-jit", action="store_true", help="leave the forward pass under ms.jit out")
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop after this time; the next run goes on from there"
    )
    parser.add_argument("--page", action="store_true", help="only write docs/reference/zoo.md from what is there")
    options = parser.parse_args()
    results = BUILD / f"{options.zoo}.jsonl"
    if options.again:
        results.unlink(missing_ok=True)
    if not options.page:
        if not options.no_convert:
            convert_zoo(options.zoo)
        measure(options, results)
    write_page(BUILD)


def convert_zoo(zoo: str) -> None:
    """The installed package's sources, converted whole, with no hand edit."""
    spec = importlib.util.find_spec(zoo)
    if spec is None or not spec.submodule_search_locations:
        raise MindferryError(f"{zoo} is not installed; run `pip install --no-deps {zoo}`")
    output = BUILD / "converted" / zoo
    shutil.rmtree(output, ignore_errors=True)
    with progress(f"convert {zoo}") as advance:
        result = convert_project(Path(spec.submodule_search_locations[0]), output, advance=advance)
    files = [
        {
            "path": file.path,
            "status": file.status,
            "findings": [f"{each.code} {each.message}" for each in file.findings if each.severity == "error"],
            "warnings": [f"{each.code} {each.message}" for each in file.findings if each.severity == "warning"],
            "compiles": _compiles(output / file.path),
        }
        for file in result.files
        if file.path.startswith("models/") and file.path.endswith(".py")
    ]
    (BUILD / f"{zoo}-files.json").write_text(json.dumps(files, indent=1))


def _compiles(path: Path) -> bool:
    try:
        compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def rows_of(results: Path) -> dict[str, dict[str, Any]]:
    """The last row of each model."""
    return {row["model"]: row for row in map(json.loads, results.read_text().splitlines())} if results.is_file() else {}


def measure(options: argparse.Namespace, results: Path) -> None:
    done, end = rows_of(results), time.monotonic() + 60 * options.minutes
    with Workers() as workers:
        known = {row["model"]: row for row in listed(options.zoo, workers)}
        if options.only:
            names = options.only
        elif options.failed:
            names = [name for name in known if done.get(name, {"verdict": ""})["verdict"] != "same"]
        else:
            names = [name for name in known if name not in done]
        with progress(options.zoo, len(names)) as advance:
            for name in names:
                advance(name)
                if time.monotonic() > end:
                    break
                start = time.monotonic()
                row = {**known.get(name, {}), **measure_one(workers, options.zoo, name, not options.no_jit)}
                row["seconds"] = round(time.monotonic() - start, 1)
                with results.open("a") as out:
                    out.write(json.dumps(row) + "\n")
                print(
                    f"{name:40} {row['verdict']} {row['seconds']} s {row.get('reason', '')[:300]}",
                    file=sys.stderr,
                    flush=True,
                )


def listed(zoo: str, workers: Workers) -> list[dict[str, Any]]:
    """The zoo's models; asked for once, since building all of timm's takes minutes."""
    known = BUILD / f"{zoo}-models.json"
    if not known.is_file():
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(json.dumps(workers.call("torch", "zoo_models:models", {"zoo": zoo}), indent=1))
    rows: list[dict[str, Any]] = json.loads(known.read_text())
    return rows


class Workers:
    """One worker a framework, started again after a crash and now and then."""

    def __init__(self) -> None:
        self.running: dict[str, Worker] = {}
        self.calls = {"torch": 0, "mindspore": 0}
        self.folder = Path(tempfile.mkdtemp(prefix="mindferry-zoo-"))  # where they leave arrays for each other

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self.running.values():
            worker.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, framework: str, function: str, payload: Any) -> Any:
        if framework not in self.running:
            self.running[framework] = Worker(
                framework, (BUILD / "converted") if framework == "mindspore" else None, silence=SILENCE
            )
        try:
            return self.running[framework].call(f"conformance.{function}", payload)
        except WorkerError as error:
            if error.kind != "error":
                self.running.pop(framework).close()
            raise

    def refresh(self, framework: str, has_failed: bool) -> None:
        """After an error while it differentiates, MindSpore computes nonsense."""
        self.calls[framework] += 1
        if (has_failed or self.calls[framework] % CALLS == 0) and framework in self.running:
            self.running.pop(framework).close()


def measure_one(workers: Workers, zoo: str, name: str, with_jit: bool) -> dict[str, Any]:
    """Where numbers are too far off, other images tell a mistake, which stays, from a rounding across a ReLU's kink, which goes."""
    row = attempt(workers, zoo, name, with_jit, 0)
    if row["verdict"] == "differs":
        others = [attempt(workers, zoo, name, False, seed) for seed in range(1, INPUTS)]
        row["gradients"] = [each.get("gradient") for each in (row, *others)]
        row["others"] = [each["verdict"] for each in others]
    return row


def attempt(workers: Workers, zoo: str, name: str, with_jit: bool, seed: int) -> dict[str, Any]:
    payload = {"zoo": zoo, "model": name, "folder": str(workers.folder), "jit": with_jit, "seed": seed}
    row: dict[str, Any] = {"model": name, "verdict": "not measured"}
    try:
        reference = workers.call("torch", "zoo_run:reference", payload)
    except MindferryError as error:
        return {**row, "reason": f"torch: {_short(error)}"}
    try:
        found = workers.call("mindspore", "zoo_run:converted", {**payload, "input": reference["input"]})
    except MindferryError as error:
        workers.refresh("mindspore", True)
        return {**row, "verdict": "fails", "reason": _short(error), **reference}
    workers.refresh("mindspore", found["gradient"] is None)
    row |= {"jit_tried": with_jit, **reference, **found, "allowed": GRADIENT, "metric": METRIC}
    if found["forward"] <= FORWARD and found["gradient"] is not None and not found["gradient"] <= GRADIENT:
        try:
            row |= workers.call("torch", "zoo_run:against_float64", payload)
        except MindferryError as error:  # then nothing is known of what torch's own rounding makes of it
            row["float64_reason"] = _short(error)
    if FORWARD < found["forward"] < float("inf"):
        with contextlib.suppress(MindferryError):
            row |= workers.call("torch", "zoo_run:nudged_output", payload)
    return {**row, **judge(row)}


def judge(row: dict[str, Any]) -> dict[str, str]:
    if row["forward"] > FORWARD or row["forward"] != row["forward"]:
        return {"verdict": "differs", "reason": f"forward {row['forward']:.1e}"}
    if row["gradient"] is None:
        return {"verdict": "fails", "reason": f"gradients: {row.get('gradient_reason', '')}"}
    if not row["gradient"] <= row["allowed"]:
        return {
            "verdict": "differs",
            "reason": f"gradient {row['gradient']:.1e} ({row['worst']}), allowed {row['allowed']:.1e}",
        }
    return {"verdict": "same"}


def _short(error: MindferryError) -> str:
    """What went wrong and on which line, without the worker's log."""
    where = re.search(r"\(([\w./]+\.py line \d+)\)", str(error))
    detail = " ".join(f"{getattr(error, 'kind', '')} {getattr(error, 'detail', str(error))}".split())
    return f"{detail[:300]} ({where.group(1)})" if where else detail[:300]


if __name__ == "__main__":
    main()
