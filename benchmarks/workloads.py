"""Step times of eight small trainings: torch, the conversion as it comes, with `--jit auto`, with --jit, and a port by hand.

    python -m benchmarks.workloads [NAME...] [--minutes N] [--fresh]

Every way runs in a process of its own, one after the other, with one thread, so that ratios compare; a step's time is the median
of the second half of the steps of all rounds. The processor's time is shown, which other work on the machine disturbs least. One
round goes through everything; more follow while the minutes last. Where a goal is missed, `tune` then names the operators.
Results are kept in benchmarks/results/workloads.json after each run, and a run that was cut off goes on from there, unless the
code has changed; docs/reference/workloads.md is written from them. Ports by hand are benchmarks/workloads/hand/NAME.py.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.workloads_page import page

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "workloads"
RESULT = ROOT / "benchmarks" / "results" / "workloads.json"
PAGE = ROOT / "docs" / "reference" / "workloads.md"
STEP = re.compile(r"^step \d+ ([\d.]+) ms", re.MULTILINE)
NAMES = ("mlp", "cnn", "lstm", "unet", "dcgan", "gpt", "resnet18", "resnet50")
WAYS = {"converted": Settings(), "auto": Settings(jit_auto=True), "jit": Settings(jit=True)}
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "GLOG_v": "4"}
BY_HAND = {"ONEDNN_MAX_CPU_ISA": "AVX2"}  # who ports by hand knows it; a conversion has to set it by itself
LIMIT = 240  # seconds for one run
KERNELS = 4  # named for each workload


def prepare(name: str, folder: Path) -> dict[str, Path]:
    """Way -> script. A conversion with the same text as an earlier one is not run again."""
    ways = {"torch": FOLDER / name / "train.py"}
    for way, settings in WAYS.items():
        output = folder / way / name
        if not output.exists():
            convert_project(FOLDER / name, output, settings=settings)
        ways[way] = output / "train.py"
    hand = FOLDER / "hand" / f"{name}.py"
    return ways | ({"by hand": hand} if hand.is_file() else {})


def digest(script: Path) -> str:
    """Of what runs: the script, and the helpers beside it."""
    helpers = [*script.parent.glob("ms_compat.py"), *sorted(script.parent.glob("ms_compat/*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in (script, *helpers))).hexdigest()[:16]


def steps_of(way: str, script: Path, folder: Path) -> list[float]:
    """Milliseconds of the steps in the second half of a run; none where it fails."""
    environment = {**os.environ, **ENVIRONMENT}
    environment.pop("ONEDNN_MAX_CPU_ISA", None)
    environment |= BY_HAND if way == "by hand" else {}
    try:
        run = subprocess.run(
            [sys.executable, str(script)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        print(f"  {way}: stopped after {LIMIT} s", file=sys.stderr)
        return []
    if run.returncode:
        print(f"  {way}: {run.stderr.strip().splitlines()[-1] if run.stderr.strip() else 'failed'}", file=sys.stderr)
        return []
    times = [float(each) for each in STEP.findall(run.stdout)]
    return times[len(times) // 2 :]


def kernels_of(project: Path) -> list[list[Any]]:
    """(operator, milliseconds a step, calls a step) of those that take longest, and the rest of the step, by MindSpore's own profiler."""
    from mindferry.tune.clock import Plan
    from mindferry.tune.run import tune
    from mindferry.tune.workload import find_workload

    plan = Plan(warm=1, plain=2, observed=1, profiled=1, seconds=10)
    profile = tune(find_workload(project, script="train.py"), plan=plan, with_reference=False).profile
    found: dict[str, list[float]] = {}
    for each in profile.operators:
        entry = found.setdefault(each.name, [0.0, 0.0])
        entry[0] += 1000 * each.seconds
        entry[1] += each.calls
    longest = sorted(found.items(), key=lambda item: -item[1][0])
    inside = sum(entry[0] for entry in found.values())
    rows: list[list[Any]] = [[name, round(ms, 2), round(calls)] for name, (ms, calls) in longest[:KERNELS]]
    return [*rows, ["outside of kernels", round(max(0.0, 1000 * profile.step_seconds - inside), 2), 0]]


class Results:
    """What was measured, kept in a file after every run."""

    def __init__(self, is_fresh: bool) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        if RESULT.is_file() and not is_fresh:
            self.rows = json.loads(RESULT.read_text())["rows"]

    def times(self, name: str, script: Path) -> list[float]:
        found: list[float] = self.rows.setdefault(name, {}).setdefault("runs", {}).setdefault(digest(script), [])
        return found

    def keep(self, name: str, ways: dict[str, Path]) -> None:
        """Digests that are no way's any more are of older code."""
        row = self.rows[name]
        row["ways"] = {way: digest(script) for way, script in ways.items()}
        row["runs"] = {key: times for key, times in row["runs"].items() if key in row["ways"].values()}
        row["load"] = round(os.getloadavg()[0], 1)
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        RESULT.write_text(json.dumps({"commit": commit.stdout.strip(), "rows": self.rows}, indent=1) + "\n")
        PAGE.write_text(page(json.loads(RESULT.read_text())))

    def medians(self, name: str) -> dict[str, float]:
        row = self.rows[name]
        return {way: statistics.median(row["runs"][key]) for way, key in row["ways"].items() if row["runs"].get(key)}


def measure(names: list[str], deadline: float, results: Results) -> None:
    """A first round of all, then, while there is time, what stops each, and further rounds."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for number in range(1, 100):
            for name in names:
                ways = prepare(name, folder)
                done: set[str] = set()
                for way, script in ways.items():
                    is_measured = number == 1 and results.times(name, script)
                    if is_measured or digest(script) in done or time.monotonic() > deadline:
                        continue
                    done.add(digest(script))
                    results.times(name, script).extend(steps_of(way, script, folder))
                    results.keep(name, ways)
                if number == 1:
                    results.keep(name, ways)
                    show(name, results.medians(name))
                key = digest(ways["converted"])
                if number == 2 and results.rows[name].get("kernels of") != key and time.monotonic() < deadline:
                    results.rows[name] |= {"kernels": kernels_of(ways["converted"].parent), "kernels of": key}
                    results.keep(name, ways)
            if time.monotonic() > deadline:
                return


def show(name: str, medians: dict[str, float]) -> None:
    base = medians.get("torch", float("nan"))
    print(
        f"{name:10} " + "  ".join(f"{way} {each:.2f} ms ({each / base:.2f})" for way, each in medians.items()),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*NAMES, []])
    parser.add_argument("--minutes", type=float, default=13.0)
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    given = parser.parse_args()
    results = Results(given.fresh)
    names = given.names or list(NAMES)
    measure(names, time.monotonic() + 60 * given.minutes, results)
    for name in names:
        show(name, results.medians(name))


if __name__ == "__main__":
    main()
