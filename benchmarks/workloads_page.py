"""The page of `python -m benchmarks.workloads`: each training's step against torch's and a port by hand, and what stops it."""

from __future__ import annotations

import statistics
from typing import Any

CONVOLUTIONS = ("cnn", "resnet18", "resnet50", "unet", "dcgan")
SHOWN = {"converted": "as it comes", "auto": "`--jit auto`", "jit": "`--jit`", "by hand": "by hand"}
HEAD = """# Step times of eight trainings

Written by `python -m benchmarks.workloads` (commit {commit}): the processor's time of one training step, the median of the second half of
the steps of all runs, one thread, CPU. In brackets: times torch's. Goal as it comes: no slower than the port by hand, and at most 1.3 times torch
for convolutions, 2 times for the others. "Load" is the machine's when the row was last written; above 1 the figures are not to be relied on.

| training | torch | {ways} | goal | load |
| --- | --- | {lines} | --- | --- |
"""
STOPS = """
## What stops those that miss it

Milliseconds of a step by MindSpore's own profiler, as it comes; "outside of kernels" is Python, dispatch and what the profiler does not see.

| training | operators |
| --- | --- |
"""


def page(results: dict[str, Any]) -> str:
    lines = HEAD.format(
        commit=results["commit"], ways=" | ".join(SHOWN.values()), lines=" | ".join("---" for _ in SHOWN)
    )
    stops = ""
    for name, row in results["rows"].items():
        medians = medians_of(row)
        if "torch" not in medians:
            continue
        cells = [shown(medians, way) for way in SHOWN]
        missed = misses(name, medians)
        lines += f"| {name} | {medians['torch']:.2f} ms | {' | '.join(cells)} | {missed or 'met'} | {row['load']} |\n"
        if missed and row.get("kernels"):
            stops += f"| {name} | {', '.join(operator(*each) for each in row['kernels'])} |\n"
    return lines + (STOPS + stops if stops else "")


def medians_of(row: dict[str, Any]) -> dict[str, float]:
    return {way: statistics.median(row["runs"][key]) for way, key in row["ways"].items() if row["runs"].get(key)}


def shown(medians: dict[str, float], way: str) -> str:
    return f"{medians[way]:.2f} ms ({medians[way] / medians['torch']:.2f})" if way in medians else "not run"


def operator(name: str, milliseconds: float, calls: int) -> str:
    return f"{name} {milliseconds:.1f} ms" + (f" in {calls} calls" if calls else "")


def misses(name: str, medians: dict[str, float]) -> str:
    """Which goals the conversion as it comes misses."""
    if "converted" not in medians:
        return "does not run"
    found = []
    limit = 1.3 if name in CONVOLUTIONS else 2.0
    if medians["converted"] > limit * medians["torch"]:
        found.append(f"more than {limit} times torch")
    if medians["converted"] > 1.05 * medians.get("by hand", float("inf")):
        found.append("slower than by hand")
    return "; ".join(found)
