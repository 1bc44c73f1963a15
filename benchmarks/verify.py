"""What verifying costs: CPU time and peak memory, as ratios to running both models forward and backward once.

    python benchmarks/verify.py                                    ResNet-50 on 4×3×64×64 and 4×3×224×224
    python benchmarks/verify.py --input 'float32[8,3,32,32]'
    python benchmarks/verify.py --modes train

    python benchmarks/verify.py --start                            two small networks, from the command to the verdict

Written to benchmarks/results/verify.json, one entry for each input and set of modes. CPU seconds of the two worker processes, without starting them and importing the frameworks. The plain run is one
forward and one backward pass in train mode in each framework, in fresh workers. The other sizes and values that verify tries
(`record_variants`, `compare_variants`) are part of what it costs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from operator import itemgetter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "resnet50_cifar10"
RESULTS = Path(__file__).parent / "results" / "verify.json"
HERE = {
    "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), str(ROOT / "src")]),
    "OMP_NUM_THREADS": "1",  # waiting threads would count as work
}


def plain_torch(payload: dict[str, Any], link: Any) -> dict[str, float]:
    from mindferry.frameworks.torch import build_module
    from mindferry.verify.named import make_inputs

    model = build_module(payload["model"], "", 0, link).train()
    inputs = [value for _, value in make_inputs(payload["inputs"], 0)]
    began = time.process_time()
    model(*inputs).sum().backward()
    return used(began)


def plain_mindspore(payload: dict[str, Any], link: Any) -> dict[str, float]:
    import mindspore as ms
    import numpy as np

    from mindferry.frameworks.mindspore import build_cell

    cell = build_cell(payload["model"]).set_train(True)
    shape = [int(size) for size in payload["inputs"][0].split("[")[1].rstrip("]").split(",")]
    x = ms.Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    began = time.process_time()
    loss, _ = ms.value_and_grad(lambda: cell(x).sum(), None, cell.trainable_params())()
    loss.asnumpy()
    return used(began)


def record(payload: dict[str, Any], link: Any) -> dict[str, float]:
    from mindferry.frameworks.torch import build_module
    from mindferry.verify.named import make_inputs
    from mindferry.verify.recorder import record

    model = build_module(payload["model"], "", 0, link)
    inputs = make_inputs(payload["inputs"], 0)
    began = time.process_time()
    record(model, inputs, Path(payload["golden"]), modes=payload["modes"], inside=False)
    return used(began)


def compare(payload: dict[str, Any], link: Any) -> dict[str, float]:
    from mindferry.frameworks.mindspore import against, build_cell
    from mindferry.verify.golden import open_golden
    from mindferry.verify.judge import Rule, judge

    cell = build_cell(payload["model"])
    began = time.process_time()
    golden = open_golden(Path(payload["golden"]))
    measured = against(cell, golden, payload["modes"], doing=link.doing)
    verdict = judge(measured.measurements, golden, Rule())
    return {**used(began), "passed": verdict.passed}


def record_variants(payload: dict[str, Any], link: Any) -> dict[str, Any]:
    """The same inputs in other sizes and values: of each group the first that the reference takes, outputs alone."""
    from mindferry.frameworks.torch import build_module
    from mindferry.verify.named import make_inputs
    from mindferry.verify.recorder import record
    from mindferry.verify.variants import variants

    model = build_module(payload["model"], "", 0, link)
    groups = variants(make_inputs(payload["inputs"], 0))
    record(model, make_inputs(payload["inputs"], 0), Path(f"{payload['golden']}.0"), modes=["eval"], inside=False)
    began = time.process_time()
    for number, group in enumerate(groups, 1):
        for _, inputs in group:
            try:
                record(
                    model,
                    inputs,
                    Path(f"{payload['golden']}.{number}"),
                    modes=["eval"],
                    inside=False,
                    is_quick=True,
                    has_weights=False,  # the conversion has them already
                )
            except Exception:  # a size that the model does not take
                continue
            break
    return {**used(began), "groups": len(groups)}


def compare_variants(payload: dict[str, Any], link: Any) -> dict[str, Any]:
    from mindferry.frameworks.mindspore import against, build_cell
    from mindferry.frameworks.mindspore_weights import initial_buffers
    from mindferry.verify.golden import open_golden

    cell = build_cell(payload["model"])
    files = sorted(Path(payload["golden"]).parent.glob("golden.safetensors.*"))
    names: dict[str, str] = {}
    initial = initial_buffers(cell)
    against(
        cell, open_golden(files[0]), ["eval"], initial=initial, names=names
    )  # in a verification the cell has its weights already
    began = time.process_time()
    for file in files[1:]:
        against(cell, open_golden(file), ["eval"], doing=link.doing, initial=initial, names=names)
    return used(began)


def used(began: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.process_time() - began, "peak": peak}


def asked(name: str, framework: str, project: Path, payload: dict[str, Any]) -> dict[str, float]:
    from mindferry.frameworks.process import Worker

    with Worker(framework, project, environment=HERE) as worker:
        found: dict[str, float] = worker.call(f"verify:{name}", payload)
    return found


def measure(given: str, modes: list[str], times: int) -> dict[str, float]:
    """Each part so many times, in a fresh worker, and the least of them: on a busy machine MindSpore's threads wait actively."""
    from mindferry.convert import convert_project

    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "converted"
        convert_project(EXAMPLE, converted)
        golden = Path(folder) / "golden.safetensors"
        payload: dict[str, Any] = {"model": "model:resnet50", "inputs": [given], "golden": str(golden), "modes": modes}
        found = {}
        for name, framework in (
            ("plain_torch", "torch"),
            ("record", "torch"),
            ("plain_mindspore", "mindspore"),
            ("compare", "mindspore"),
            ("record_variants", "torch"),
            ("compare_variants", "mindspore"),
        ):
            project = EXAMPLE if framework == "torch" else converted
            found[name] = min(
                (asked(name, framework, project, payload) for _ in range(times)), key=itemgetter("seconds")
            )
            print(f"{name:16} {found[name]['seconds']:7.2f} CPU s {found[name]['peak']:8.0f} MiB peak", flush=True)
        size = golden.stat().st_size / 2**20
    plain = found["plain_torch"]["seconds"] + found["plain_mindspore"]["seconds"]
    verify = sum(found[name]["seconds"] for name in ("record", "compare", "record_variants", "compare_variants"))
    return {
        **{f"{name}_cpu_seconds": round(each["seconds"], 2) for name, each in found.items()},
        "golden_mib": round(size),
        "passed": found["compare"]["passed"],
        "time_ratio": round(verify / plain, 2),
        "torch_memory_ratio": round(found["record"]["peak"] / found["plain_torch"]["peak"], 2),
        "mindspore_memory_ratio": round(found["compare"]["peak"] / found["plain_mindspore"]["peak"], 2),
    }


def spent(payload: dict[str, Any], link: Any) -> float:
    """CPU seconds of a worker since it started."""
    return time.process_time()


def imported(payload: dict[str, Any], link: Any) -> float:
    """The same, after importing the framework and nothing else."""
    __import__(link.framework)
    return time.process_time()


def measure_start() -> dict[str, dict[str, float | str]]:
    """CPU seconds by process, from the command to the verdict; on idle cores the two workers run side by side."""
    import sys

    from mindferry.frameworks.process import Worker
    from mindferry.verify import run
    from mindferry.verify.settings import Verification

    sys.path.insert(0, str(ROOT))
    from tests.verify.twins import BERT, RESNET

    os.environ.update(HERE)
    imports = {}
    for framework in ("torch", "mindspore"):
        with Worker(framework) as worker:
            imports[framework] = worker.call("verify:imported", {})
    found: dict[str, dict[str, float | str]] = {}
    finish = run._predictions
    for twin in (RESNET, BERT):
        seconds: dict[str, float] = {}

        def ask(settings: Any, sides: Any, show: Any, seconds: dict[str, float] = seconds) -> Any:
            seconds |= {"torch": sides.torch.call("verify:spent", {})}
            seconds |= {"mindspore": sides.mindspore.call("verify:spent", {})}
            return finish(settings, sides, show)

        run._predictions = ask
        with tempfile.TemporaryDirectory() as folder:
            theirs, ours = twin.write(Path(folder))
            began, wall = time.process_time(), time.monotonic()
            comparison = run.verify(Verification(theirs, ours, "net:Net", "net:Net", twin.inputs))
        run._predictions = finish
        each: dict[str, float | str] = {"verdict": str(comparison.outcome), "command_cpu": time.process_time() - began}
        for name, total in seconds.items():
            each |= {f"{name}_import_cpu": imports[name], f"{name}_work_cpu": total - imports[name]}
        each |= {"cpu": sum(value for value in each.values() if isinstance(value, float))}
        each |= {"wall": time.monotonic() - wall, "load": os.getloadavg()[0]}
        found[f"start {twin.name}"] = {k: round(v, 2) if isinstance(v, float) else v for k, v in each.items()}
        print(twin.name, found[f"start {twin.name}"], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--modes", default="eval,train")
    parser.add_argument("--start", action="store_true", help="two small networks, from the command to the verdict")
    parser.add_argument("--times", type=int, default=3, help="how often each part runs; the least counts")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    if options.start:
        RESULTS.write_text(json.dumps({**results, **measure_start()}, indent=1) + "\n")
        return
    for given in options.input or ["float32[4,3,64,64]", "float32[4,3,224,224]"]:
        found = measure(given, options.modes.split(","), options.times)
        results[f"resnet50 {given} {options.modes}"] = found
        print(f"{given}: golden file {found['golden_mib']} MiB; verdict: {'same' if found['passed'] else 'different'}")
        print(f"time:   {found['time_ratio']} × both forward and backward once (target 2.5)")
        print(
            f"memory: torch {found['torch_memory_ratio']} × its plain run, MindSpore {found['mindspore_memory_ratio']} × (target 2)",
            flush=True,
        )
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
