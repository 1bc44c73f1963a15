"""Every converted torchvision model as MindIR: exported, reloaded in a fresh process, compared; failures by cause.

    python -m conformance.zoo --zoo torchvision      converts it into build/zoo
    python -m conformance.mindir [--only resnet18] [--again] [--failed] [--jobs 2] [--minutes 10] [--page]

Resumable: results are appended to build/zoo/mindir.jsonl, the last line of a model counts. Two processes a model, one
after the other; each may take MEMORY bytes and be silent for SILENCE seconds, then the model's row says so.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindferry.errors import MindferryError
from mindferry.export.run import LAX, distance
from mindferry.files import write_text
from mindferry.frameworks.process import Worker, WorkerError

if TYPE_CHECKING:
    from mindferry.frameworks.worker import Link

BUILD = Path("build/zoo")
PAGE = Path("docs/reference/mindir.md")
TOLERANCE = 1e-5  # of the largest output
SILENCE = 240.0
MEMORY = 14 * 2**30  # of addresses: three times what any model that passes has needed

HEAD = """# MindIR of the converted torchvision models

Each model of torchvision, converted by mindferry, was exported to MindIR, loaded again in a fresh process with
`nn.GraphCell(ms.load(...))` and run on the same inputs as the cell. "Equal" means that no output is further off than
1e-5 of the largest output. Initial weights, evaluation mode, small inputs; MindSpore 2.10.0 on CPU. The detectors don't
compile; [the zoo](zoo.md) says more under "jit".

    python -m conformance.mindir --jobs 2
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="conformance.mindir", description="Export every converted torchvision model to MindIR."
    )
    parser.add_argument("--only", nargs="*", default=[], help="these models, measured before or not")
    parser.add_argument("--again", action="store_true", help="measure all again")
    parser.add_argument("--failed", action="store_true", help="measure again what is not equal yet")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time")
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop after this time; the next run goes on from there"
    )
    parser.add_argument("--page", action="store_true", help="only write docs/reference/mindir.md from what is there")
    options = parser.parse_args()
    results = BUILD / "mindir.jsonl"
    if options.again:
        results.unlink(missing_ok=True)
    if not options.page:
        done = read(results)
        names = options.only or [row["model"] for row in listed()]
        is_left = {
            name: name not in done or bool(options.only) or (options.failed and done[name]["verdict"] != "equal")
            for name in names
        }
        sweep([name for name in names if is_left[name]], results, options.jobs, time.monotonic() + 60 * options.minutes)
    write_page(list(read(results).values()))


def listed() -> list[dict[str, Any]]:
    path = BUILD / "torchvision-models.json"
    if not path.is_file() or not (BUILD / "converted" / "torchvision").is_dir():
        raise MindferryError(
            "there is no converted torchvision in build/zoo; run `python -m conformance.zoo --zoo torchvision`"
        )
    rows: list[dict[str, Any]] = json.loads(path.read_text())
    return rows


def read(results: Path) -> dict[str, dict[str, Any]]:
    rows = (json.loads(line) for line in results.read_text().splitlines()) if results.is_file() else ()
    return {row["model"]: row for row in rows}


def sweep(names: list[str], results: Path, jobs: int, end: float) -> None:
    """Measure these, `jobs` at a time; no model is begun after `end`."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(
        resource.RLIMIT_AS, (MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard), hard)
    )  # the workers inherit it
    environment = {**LAX, "OMP_NUM_THREADS": "1"} if jobs > 1 else LAX

    def one(name: str) -> None:
        if time.monotonic() > end:
            return
        row = measure(name, environment)
        if row.get("stage") == "exporting":  # the compiler that refuses more Python also leaves less of it in the graph
            again = measure(name, {**environment, "MS_DEV_JIT_SYNTAX_LEVEL": "0"})
            row = again if again["verdict"] == "equal" else row
        with results.open("a") as out:
            out.write(json.dumps(row) + "\n")
        print(
            f"{name:36} {row['verdict']} {row['seconds']} s {row.get('reason', '')[:200]}", file=sys.stderr, flush=True
        )

    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(one, names):
            pass


def measure(name: str, environment: dict[str, str]) -> dict[str, Any]:
    """One model, from its construction to the comparison."""
    start, scratch = time.monotonic(), Path(tempfile.mkdtemp(prefix="mindferry-mindir-"))
    payload = {"model": name, "folder": str(scratch)}
    row: dict[str, Any] = {"model": name, "verdict": "fails"}
    stage = "building and running it"
    try:
        with _worker(environment) as worker:
            row |= worker.call("conformance.mindir:run_cell", payload)
            stage = "exporting"
            worker.call("conformance.mindir:export_cell", payload)
        stage = "reloading"
        with _worker(environment) as worker:
            worker.call(
                "mindferry.export.cell:run",
                {
                    "path": str(scratch / "model.mindir"),
                    "form": "mindir",
                    "key": "",
                    "mode": "",
                    "inputs": str(scratch / "inputs.npz"),
                    "outputs": str(scratch / "outputs.npz"),
                },
            )
        row |= _compared(scratch)
    except MindferryError as error:
        detail = error.detail if isinstance(error, WorkerError) else str(error)
        row |= {"stage": stage, "reason": " ".join(detail.split())[:300]}
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return {**row, "seconds": round(time.monotonic() - start, 1)}


def _worker(environment: dict[str, str]) -> Worker:
    return Worker("mindspore", BUILD / "converted", silence=SILENCE, environment=environment)


def run_cell(payload: dict[str, Any], link: Link) -> dict[str, Any]:
    """In the worker: build the model, find an input that it takes, note its outputs."""
    import mindspore as ms
    import numpy as np

    from mindferry.export.cell import outputs_of

    from .zoo_models import arguments, build, input_shapes, skip_package_init

    name = payload["model"]
    skip_package_init("torchvision", link)
    ms.set_seed(1)
    link.doing("building it")
    cell = build("torchvision", name).set_train(False)
    for shape in input_shapes("torchvision", name, cell):
        array = np.random.RandomState(0).standard_normal(shape).astype(np.float32)
        given = arguments(name, ms.Tensor(array))
        try:
            link.doing(f"running it on {shape}")
            outputs = outputs_of(cell, [given])
            break
        except Exception as error:
            failure = error
    else:
        raise failure
    folder = Path(payload["folder"])
    arrays = [each.asnumpy() for each in given] if isinstance(given, list) else [array]
    np.savez(folder / "inputs.npz", **{f"0/{index}": each for index, each in enumerate(arrays)})
    np.savez(folder / "expected.npz", **{f"0/{index}": each for index, each in enumerate(outputs)})
    link.state["exported"] = (cell, given)
    return {"input": list(array.shape), "outputs": len(outputs)}


def export_cell(payload: dict[str, Any], link: Link) -> None:
    """In the same worker: the file."""
    import mindspore as ms

    from mindferry.export.cell import reason

    cell, given = link.state["exported"]
    link.doing("exporting it")
    try:
        ms.export(cell, given, file_name=str(Path(payload["folder"]) / "model.mindir"), file_format="MINDIR")
    except Exception as error:
        raise MindferryError(reason(error)) from None


def _compared(folder: Path) -> dict[str, Any]:
    import numpy as np

    with np.load(folder / "expected.npz") as expected, np.load(folder / "outputs.npz") as outputs:
        if expected.files != outputs.files or any(
            expected[name].shape != outputs[name].shape for name in expected.files
        ):
            return {
                "verdict": "differs",
                "reason": f"the cell gives {len(expected.files)} outputs, the file {len(outputs.files)} or other shapes",
            }
        worst = max(distance(expected[name], outputs[name]) for name in expected.files)
    size = (folder / "model.mindir").stat().st_size if (folder / "model.mindir").is_file() else 0
    verdict = "equal" if worst <= TOLERANCE else "differs"
    return {
        "verdict": verdict,
        "worst": worst,
        "bytes": size,
        **({} if verdict == "equal" else {"reason": f"off by {worst:.1e}"}),
    }


def cause(row: dict[str, Any]) -> str:
    """Failures of one kind have one text: numbers, names and MindSpore's call stack taken out."""
    text = re.sub(r"0x[0-9a-f]+|\d+", "N", re.split(r"\s*-{8,}", row.get("reason", ""))[0])
    return f"{row.get('stage', 'comparing')}: {text[:160]}"


def write_page(rows: list[dict[str, Any]]) -> None:
    rows = sorted(rows, key=lambda row: row["model"])
    count = Counter(row["verdict"] for row in rows)
    left = len({row["model"] for row in listed()} - {row["model"] for row in rows})
    lines = [HEAD, f"{count['equal']} of {len(rows)} are equal; {left} more were not measured yet.", ""]
    causes: dict[str, list[str]] = {}
    for row in rows:
        if row["verdict"] != "equal":
            causes.setdefault(cause(row), []).append(row["model"])
    if causes:
        lines += ["## The others, by cause", ""]
        lines += [
            f"- {text.replace('|', '/')}: {', '.join(names)}"
            for text, names in sorted(causes.items(), key=lambda item: -len(item[1]))
        ]
    lines += ["", "## All", "", "| model | verdict | largest error | input | MiB |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        shape = "×".join(str(size) for size in row.get("input", ()))
        worst = f"{row['worst']:.1e}" if "worst" in row else ""
        lines.append(f"| {row['model']} | {row['verdict']} | {worst} | {shape} | {row.get('bytes', 0) / 2**20:.1f} |")
    write_text(PAGE, "\n".join(lines) + "\n")
    write_text(PAGE.with_suffix(".json"), json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
