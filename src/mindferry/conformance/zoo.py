"""Model zoos: convert torchvision's and timm's sources, build every model in both frameworks, compare.

    python -m mindferry.conformance.zoo --zoo torchvision [--only resnet18 vit_b_16] [--jit]

Resumable: results are appended to build/zoo/<zoo>.jsonl. A worker that dies costs one model.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ..convert import convert_project
from ..errors import MindferryError
from ..progress import progress
from ..verify.backends.process import Worker, WorkerError
from .zoo_page import write_page

BUILD = Path("build/zoo")
FORWARD, GRADIENT, TIMES = 1e-4, 1e-3, 3.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="mindferry.conformance.zoo", description=__doc__)
    parser.add_argument("--zoo", choices=("torchvision", "timm"), required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--again", action="store_true", help="convert and measure again")
    parser.add_argument("--page", action="store_true", help="only write docs/reference/zoo.md from what is there")
    options = parser.parse_args()
    results = BUILD / f"{options.zoo}.jsonl"
    if options.again:
        results.unlink(missing_ok=True)
    if not options.page:
        convert_zoo(options.zoo)
        measure(options.zoo, options.only, results)
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
        }
        for file in result.files
        if file.path.startswith("models/") and file.path.endswith(".py")
    ]
    (BUILD / f"{zoo}-files.json").write_text(json.dumps(files, indent=1))


def measure(zoo: str, only: list[str], results: Path) -> None:
    done = {json.loads(line)["model"] for line in results.read_text().splitlines()} if results.is_file() else set()
    with Workers(zoo) as workers:
        names = only or workers.call("torch", "models", {"zoo": zoo})
        with progress(zoo, len(names)) as advance:
            for name in names:
                advance(name)
                if name in done and not only:
                    continue
                row = measure_one(workers, zoo, name)
                with results.open("a") as out:
                    out.write(json.dumps(row) + "\n")
                print(f"{name:40} {row['verdict']} {row.get('reason', '')[:160]}", file=sys.stderr, flush=True)


class Workers:
    """One worker a framework, started again after a crash."""

    def __init__(self, zoo: str) -> None:
        self.zoo = zoo
        self.running: dict[str, Worker] = {}

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self.running.values():
            worker.close()

    def call(self, framework: str, function: str, payload: Any) -> Any:
        if framework not in self.running:
            self.running[framework] = Worker(framework, (BUILD / "converted") if framework == "mindspore" else None, silence=240)
        try:
            return self.running[framework].call(f"mindferry.conformance.zoo_models:{function}", payload)
        except WorkerError as error:
            if error.kind != "error":
                self.running.pop(framework).close()
            raise


def measure_one(workers: Workers, zoo: str, name: str) -> dict[str, Any]:
    folder = (BUILD / "arrays").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    payload = {"zoo": zoo, "model": name, "folder": str(folder)}
    row: dict[str, Any] = {"model": name, "verdict": "not measured"}
    try:
        reference = workers.call("torch", "reference", payload)
    except MindferryError as error:
        return {**row, "reason": f"torch: {_short(error)}"}
    try:
        found = workers.call("mindspore", "converted", {**payload, "input": reference["input"]})
    except MindferryError as error:
        return {**row, "verdict": "fails", "reason": _short(error), "file": reference["file"]}
    allowed = max(GRADIENT, TIMES * reference["own_error"])
    right = found["forward"] <= FORWARD and found["gradient"] <= allowed
    row |= {"file": reference["file"], "parameters": reference["parameters"], "allowed": allowed, **found}
    row["verdict"] = "same" if right else "differs"
    if not right:
        row["reason"] = f"forward {found['forward']:.1e}, gradient {found['gradient']:.1e} ({found['worst']}), allowed {allowed:.1e}"
    return row


def _short(error: MindferryError) -> str:
    detail = getattr(error, "detail", str(error))
    return " ".join(f"{getattr(error, 'kind', '')} {detail}".split())[:300]


if __name__ == "__main__":
    main()
