"""The band that several seeds span: where the losses of one more run with other random numbers should lie.

A few seeds tell little about their spread. So a run that lies outside of the band of a few is only suspected, and more
seeds are asked for; with MOST of them the band is so wide that one run in a thousand leaves it by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

FEWEST, MOST = 3, 8  # seeds
SUSPECT = 4.0  # standard deviations that lead to more seeds
CERTAIN = 5.7  # Student's t of 99.9 % with seven degrees of freedom, for one more observation
WINDOW = 2  # steps on either side whose spread is pooled
SHARE = 0.05  # of the mean loss that is allowed besides
EXCEPTIONS = 0.1  # share of steps that may lie outside


def outside_band(losses: Sequence[float], seeds: Sequence[Sequence[float]]) -> tuple[tuple[int, ...], str]:
    """(steps whose loss lies outside, what is wrong), the latter empty where chance explains it."""
    count = min(len(losses), *(len(each) for each in seeds)) if seeds else 0
    deviations = CERTAIN if len(seeds) >= MOST else SUSPECT
    outside, first = [], ""
    for step in range(count):
        values = [each[step] for each in seeds]
        if not all(math.isfinite(each) for each in values):
            continue
        low, high = _limits(seeds, step, count, deviations)
        if not low <= losses[step] <= high:  # a NaN is in no band
            outside.append(step)
            told = f"torch's {len(seeds)} seeds lie between {min(values):.4g} and {max(values):.4g}"
            first = first or f"step {step + 1}: loss {losses[step]:.4g}, where {told}"
    is_chance = len(outside) <= EXCEPTIONS * count and all(math.isfinite(losses[step]) for step in outside)
    if not is_chance:
        return tuple(outside), f"{len(outside)} of {count} losses lie outside of the band; {first}"
    return tuple(outside), _other_progress(losses[:count], [each[:count] for each in seeds], deviations)


def _other_progress(losses: Sequence[float], seeds: Sequence[Sequence[float]], deviations: float) -> str:
    """How far the loss falls varies less than where it begins: weights that stay as they were are told by it."""
    falls = [_fall(each) for each in seeds]
    ours = _fall(losses)
    if len(losses) < 6 or not all(math.isfinite(each) for each in (*falls, ours)):
        return ""
    mean = sum(falls) / len(falls)
    margin = deviations * math.sqrt(_variance(falls)) + SHARE * abs(mean) + 1e-6
    if abs(ours - mean) <= margin or min(falls) <= ours <= max(falls):
        return ""
    told = f"torch's {len(seeds)} seeds fall by {min(falls):.4g} to {max(falls):.4g}"
    return f"the loss falls by {ours:.4g} from the first third of the steps to the last, where {told}"


def _fall(losses: Sequence[float]) -> float:
    third = max(1, len(losses) // 3)
    return (sum(losses[:third]) - sum(losses[-third:])) / third


def _limits(seeds: Sequence[Sequence[float]], step: int, count: int, deviations: float) -> tuple[float, float]:
    values = [each[step] for each in seeds]
    mean = sum(values) / len(values)
    near = range(max(0, step - WINDOW), min(count, step + WINDOW + 1))
    spreads = [_variance([each[index] for each in seeds]) for index in near]
    finite = [each for each in spreads if math.isfinite(each)]
    deviation = math.sqrt(sum(finite) / len(finite)) if finite else 0.0
    margin = deviations * deviation + SHARE * abs(mean) + 1e-6
    return min(min(values), mean - margin), max(max(values), mean + margin)


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((each - mean) ** 2 for each in values) / max(1, len(values) - 1)
