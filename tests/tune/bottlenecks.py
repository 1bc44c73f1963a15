"""Runs `mindferry tune` on every planted bottleneck and prints what it called each.

python tests/tune/bottlenecks.py            all of them
python tests/tune/bottlenecks.py loader     those with this in their name
python tests/tune/bottlenecks.py -v         with the evidence
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from mindferry.frameworks.requests import Plan
from mindferry.tune.run import tune
from mindferry.tune.workload import find_workload
from mindferry.tune_record import Diagnosis
from tune.planted import PLANTED, Bottleneck

FEW = Plan(warm=2, plain=3, observed=4, profiled=2, seconds=15)


def diagnosed(bottleneck: Bottleneck, folder: Path, plan: Plan = FEW) -> tuple[Diagnosis, ...]:
    return tune(find_workload(bottleneck.write(folder), "train.py"), plan=plan, with_reference=False).diagnoses


def is_named(bottleneck: Bottleneck, found: tuple[Diagnosis, ...]) -> bool:
    """The planted cause comes first; where none was planted, none is found."""
    return (found[0].code if found else "") == bottleneck.code


def main() -> None:
    os.environ.pop("ONEDNN_MAX_CPU_ISA", None)
    words = [word for word in sys.argv[1:] if word != "-v"]
    chosen = [each for each in PLANTED if not words or any(word in each.name for word in words)]
    right = 0
    for each in chosen:
        with tempfile.TemporaryDirectory() as folder:
            found = diagnosed(each, Path(folder))
        is_right = is_named(each, found)
        right += is_right
        seen = ", ".join(f"{one.code} {one.share:.0%}" for one in found) or "nothing"
        print(
            f"{'right' if is_right else 'WRONG'}  {each.name:24} planted {each.code or 'nothing':22} found {seen}",
            flush=True,
        )
        if found and "-v" in sys.argv:
            print(f"       {found[0].evidence}")
    print(f"{right} of {len(chosen)} diagnosed as what they are")


if __name__ == "__main__":
    main()
