"""What tuning the ResNet-50 example brings on this machine, in one run.

    python benchmarks/tune.py                    converts, profiles, tries, applies, and measures what was applied
    python benchmarks/tune.py --image-size 32

Prints how much of a step is attributed, each experiment before and after, the applied total against the untouched
default, and the ratio to torch, whose step is timed right before and right after. Results go to
benchmarks/results/tune.json. On a machine that others use, every figure moves; the losses don't.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "resnet50_cifar10"
RESULT = ROOT / "benchmarks" / "results" / "tune.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--try", dest="tries", default="isa,blocking,jit")
    options = parser.parse_args()
    os.environ.pop("ONEDNN_MAX_CPU_ISA", None)  # the untouched default
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder) / "resnet50_ms", options)
    RESULT.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


def measure(output: Path, options: argparse.Namespace) -> dict[str, Any]:
    from mindferry.convert import convert_project
    from mindferry.tune.clock import Plan
    from mindferry.tune.run import apart, apply, tune
    from mindferry.tune.show import show
    from mindferry.tune.workload import find_workload

    convert_project(EXAMPLE, output)
    workload = find_workload(output, args=("--epochs", "1", "--image-size", str(options.image_size), "--lr", "0.0001"))
    plan = Plan(warm=1, plain=options.steps, observed=2, profiled=1, seconds=20)
    record, changed = apply(workload, tune(workload, tuple(options.tries.split(",")), plan=plan))
    show(record)
    after = tune(workload, plan=plan)
    show(after)
    assert record.reference is not None and after.reference is not None
    theirs = min(record.reference.step_seconds, after.reference.step_seconds)
    return {
        "workload": record.workload,
        "cores": os.cpu_count(),
        "attributed": round(record.profile.attributed, 4),
        "untouched step": round(record.profile.step_seconds, 3),
        "experiments": {
            each.name: [each.status, each.before, each.after, each.worst]
            for each in record.experiments
            if each.before == each.before
        },
        "applied": [each.name for each in record.experiments if each.is_applied],
        "changed files": [path.name for path in changed],
        "applied step": round(after.profile.step_seconds, 3),
        "times faster": round(record.profile.step_seconds / after.profile.step_seconds, 1),
        "losses apart": apart(record.profile.losses, after.profile.losses),
        "torch step": round(theirs, 3),
        "times torch": round(after.profile.step_seconds / theirs, 2),
    }


if __name__ == "__main__":
    main()
