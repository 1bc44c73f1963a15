"""Step times of eight small trainings: torch, the conversion as it comes, with `--jit auto`, with --jit, and a port by hand.

`python -m benchmarks.workloads [NAME...] [--rounds N]`. Every way runs in a process of its own, one after the other, for several
rounds, with one thread, so that ratios compare; a step's time is the median of the second half of the steps of all rounds.
Ports by hand are benchmarks/workloads/hand/NAME.py. The processor's time is shown, which other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

FOLDER = Path(__file__).parent / "workloads"
STEP = re.compile(r"^step \d+ ([\d.]+) ms", re.MULTILINE)
NAMES = ("mlp", "cnn", "resnet18", "resnet50", "lstm", "gpt", "unet", "dcgan")
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "GLOG_v": "4"}


def prepare(name: str, folder: Path) -> dict[str, Path]:
    """Way -> script."""
    ways = {"torch": FOLDER / name / "train.py"}
    for way, settings in (("converted", Settings()), ("auto", Settings(jit_auto=True)), ("jit", Settings(jit=True))):
        output = folder / way / name
        convert_project(FOLDER / name, output, settings=settings)
        ways[way] = output / "train.py"
    hand = FOLDER / "hand" / f"{name}.py"
    return ways | ({"by hand": hand} if hand.is_file() else {})


def steps_of(script: Path, folder: Path) -> list[float]:
    """Milliseconds of the steps in the second half of a run; none where it fails."""
    environment = {**os.environ, **ENVIRONMENT}
    environment.pop("ONEDNN_MAX_CPU_ISA", None)  # the conversion has to set it by itself
    run = subprocess.run(
        [sys.executable, str(script)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode:
        print(f"  {script}: {run.stderr.strip().splitlines()[-1] if run.stderr.strip() else 'failed'}", file=sys.stderr)
        return []
    times = [float(each) for each in STEP.findall(run.stdout)]
    return times[len(times) // 2 :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name in given.names or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            ways = prepare(name, Path(folder))
            times: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(given.rounds):
                for way, script in ways.items():
                    times[way] += steps_of(script, Path(folder))
        medians = {way: statistics.median(found) for way, found in times.items() if found}
        if "torch" in medians:
            shown = "  ".join(f"{way} {each:.2f} ms ({each / medians['torch']:.2f})" for way, each in medians.items())
            print(f"{name:10} {shown}", flush=True)


if __name__ == "__main__":
    main()
