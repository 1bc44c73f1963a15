"""How fast `mindferry analyze` reads: seconds and lines a second on one core, and peak memory.

    pip install --no-deps timm==1.0.30
    python benchmarks/analyze.py            reading alone: the effort is estimated from the API table
    python benchmarks/analyze.py --measure  also with the effort measured by a conversion that writes nothing

Writes benchmarks/results/analyze.json. Wall time of the whole command, pinned to one core, the best of --rounds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "analyze.json"
EXAMPLE = Path(__file__).parents[1] / "examples" / "resnet50_cifar10"
LIMIT = 20.0  # seconds for 100,000 lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure the effort by converting, too")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    projects = {"examples/resnet50_cifar10": EXAMPLE, "torchvision": package("torchvision"), "timm": package("timm")}
    rows = {}
    for name, path in projects.items():
        for mode in ["--quick", *(["--measure"] if options.measure else [])]:
            lines = sum(file.read_bytes().count(b"\n") for file in path.rglob("*.py"))
            runs = [
                run([sys.executable, "-m", "mindferry", "analyze", str(path), mode, "--json"])
                for _ in range(options.rounds)
            ]
            seconds, memory = min(each[0] for each in runs), max(each[1] for each in runs)
            rows[f"{name} {mode}"] = {
                "lines": lines,
                "seconds": round(seconds, 2),
                "lines_per_second": round(lines / seconds),
                "peak_mb": round(memory),
            }
            print(
                f"{name:26} {mode:9} {lines:7} lines {seconds:7.2f} s {lines / seconds:8.0f} lines/s {memory:6.0f} MB"
            )
    largest = rows["timm --quick"]
    per_100_000 = largest["seconds"] * 100_000 / largest["lines"]
    print(f"100,000 lines of timm: {per_100_000:.1f} s on one core (limit {LIMIT:.0f} s)")
    RESULTS.write_text(
        json.dumps(
            {"rounds": options.rounds, "seconds_for_100_000_lines": round(per_100_000, 2), "runs": rows}, indent=1
        )
        + "\n"
    )
    sys.exit(per_100_000 > LIMIT)


def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{name} is not installed; run `pip install --no-deps {name}`")
    return Path(spec.submodule_search_locations[0])


def run(command: list[str]) -> tuple[float, float]:
    """(wall seconds, peak megabytes) of one run on one core."""
    core = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    pin = None if core is None else (lambda: os.sched_setaffinity(0, {core}))
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pin)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(command)} failed; run it by itself to see why")
    return seconds, usage.ru_maxrss / (1024 if sys.platform == "linux" else 2**20)


if __name__ == "__main__":
    main()
