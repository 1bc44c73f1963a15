"""What verifying costs: CPU time and peak memory, as ratios to running both models forward and backward once.

    python benchmarks/verify.py                                    ResNet-50 on 4×3×64×64 and 4×3×224×224
    python benchmarks/verify.py --input 'float32[8,3,32,32]'
    python benchmarks/verify.py --modes train

Written to benchmarks/results/verify.json, one entry for each input and set of modes. CPU seconds of the two worker processes, without starting them and importing the frameworks. The plain run is one
forward and one backward pass in train mode in each framework, in fresh workers.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "resnet50_cifar10"
RESULTS = Path(__file__).parent / "results" / "verify.json"
HERE = {"PYTHONPATH": str(Path(__file__).parent), "OMP_NUM_THREADS": "1"}  # waiting threads would count as work


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


def used(began: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.process_time() - began, "peak": peak}


def measure(given: str, modes: list[str]) -> dict[str, float]:
    from mindferry.convert import convert_project
    from mindferry.frameworks.process import Worker

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
        ):
            project = EXAMPLE if framework == "torch" else converted
            with Worker(framework, project, environment=HERE) as worker:
                found[name] = worker.call(f"verify:{name}", payload)
            print(f"{name:16} {found[name]['seconds']:7.2f} CPU s {found[name]['peak']:8.0f} MiB peak", flush=True)
        size = golden.stat().st_size / 2**20
    plain = found["plain_torch"]["seconds"] + found["plain_mindspore"]["seconds"]
    verify = found["record"]["seconds"] + found["compare"]["seconds"]
    return {
        **{f"{name}_cpu_seconds": round(each["seconds"], 2) for name, each in found.items()},
        "golden_mib": round(size),
        "passed": found["compare"]["passed"],
        "time_ratio": round(verify / plain, 2),
        "torch_memory_ratio": round(found["record"]["peak"] / found["plain_torch"]["peak"], 2),
        "mindspore_memory_ratio": round(found["compare"]["peak"] / found["plain_mindspore"]["peak"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--modes", default="eval,train")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for given in options.input or ["float32[4,3,64,64]", "float32[4,3,224,224]"]:
        found = measure(given, options.modes.split(","))
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
