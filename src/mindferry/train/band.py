"""The band that several seeds span: where the losses of one more run with other random numbers should lie."""

from __future__ import annotations

import math
from collections.abc import Sequence

WINDOW = 2  # steps on either side whose spread is pooled, because three seeds alone tell little
DEVIATIONS = 4.0
SHARE = 0.05  # of the mean loss that is allowed besides
EXCEPTIONS = 0.1  # share of steps that may lie outside


def outside_band(losses: Sequence[float], seeds: Sequence[Sequence[float]]) -> tuple[tuple[int, ...], str]:
    """(steps whose loss lies outside, what is wrong), the latter empty where chance explains it."""
    count = min(len(losses), *(len(each) for each in seeds)) if seeds else 0
    outside, first = [], ""
    for step in range(count):
        values = [each[step] for each in seeds]
        if not all(math.isfinite(each) for each in values):
            continue
        low, high = _limits(seeds, step, count)
        if not low <= losses[step] <= high:  # a NaN is in no band
            outside.append(step)
            told = f"torch's {len(seeds)} seeds lie between {min(values):.4g} and {max(values):.4g}"
            first = first or f"step {step + 1}: loss {losses[step]:.4g}, where {told}"
    is_chance = len(outside) <= EXCEPTIONS * count and all(math.isfinite(losses[step]) for step in outside)
    return tuple(outside), "" if is_chance else f"{len(outside)} of {count} losses lie outside of the band; {first}"


def _limits(seeds: Sequence[Sequence[float]], step: int, count: int) -> tuple[float, float]:
    values = [each[step] for each in seeds]
    mean = sum(values) / len(values)
    near = range(max(0, step - WINDOW), min(count, step + WINDOW + 1))
    spreads = [_variance([each[index] for each in seeds]) for index in near]
    finite = [each for each in spreads if math.isfinite(each)]
    deviation = math.sqrt(sum(finite) / len(finite)) if finite else 0.0
    margin = DEVIATIONS * deviation + SHARE * abs(mean) + 1e-6
    return min(min(values), mean - margin), max(max(values), mean + margin)


def _variance(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((each - mean) ** 2 for each in values) / max(1, len(values) - 1)
