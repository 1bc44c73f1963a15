"""Measurements -> verdict. Tolerances are measured, not guessed.

A value passes if its error is at most `k` times the error that torch's own float32 makes against float64 at the same
place, and never has to be better than `floor`, about forty roundings of float32: below that, the order of a sum
decides. Errors are relative to the largest reference value in the tensor, masks left out. The gradient of a bias before a norm is
zero, and what is computed for it is rounding: a sum is allowed sixteen roundings of what was added up. Below 16 elements the floor is
higher, four times for a scalar: there the largest value and torch's own error are of few samples, and small by chance at times
(a loss of 0.02 is what remains of two logits of 14, and torch may happen to round it right). Where float64 is not
possible, the reference's float32 run is repeated with its values off by a rounding, and the floor is k times as high. A first look
runs in float32 alone; what is not below the floor there is measured, see noise.py. Whole numbers and truth values are equal or not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..artifacts import Difference
from .blame import culprits_of, first_of
from .compare import Measurement
from .golden import FRACTIONS, Golden, Reference
from .variants import GROSS

NAN = math.nan
RANDOM = 1e-2  # no single module rounds that badly
MEANINGLESS = 0.5  # an output that may be off by half its size was not compared
SUMS = 2.0  # the floor is this much higher where a sum is compared
LEAST = 1e-6  # a gradient is never measured against less than this share of the largest
TRACKED = 1e-3  # and a buffer against less than this share of the largest in its module
SMALLEST = 1e-30  # what is less is zero: kernels differ in where they let a saturated function underflow
FEW = 16  # below so many elements, the floor grows with the square root of FEW / elements
ROUNDING = 2.0**-24
CANCELLED = 16 * ROUNDING  # of the sum of absolute values, where a sum cancels
CARRIED = 1.5  # times what is allowed: errors that came in from before, in a module that is right by itself
INITIAL = 1e-4  # for tables that constructors computed, in a golden file that does not say how far float32 is off there
CHOICES = 1e-2  # the share of whole numbers that a rounding may turn
HALF = 4 * 2.0**-11  # the floor in mixed precision: four roundings of float16


@dataclass(frozen=True, slots=True)
class Rule:
    """How close is close enough; `mindferry verify --k`, or `[verify] k` and `floor` in mindferry.toml."""

    k: float = 4.0
    floor: float = 5e-6


@dataclass(frozen=True, slots=True)
class Verdict:
    differences: tuple[Difference, ...]
    culprits: tuple[str, ...]
    first_divergence: str

    @property
    def passed(self) -> bool:
        return all(difference.passed for difference in self.differences)


def judge(measurements: Sequence[Measurement], golden: Golden, rule: Rule) -> Verdict:
    """One row a tensor, in execution order, and what is to blame for those that fail."""
    rows: dict[tuple[str, str, str, int, str], Difference] = {}
    scales = _scales(golden, rule)
    for found in measurements:
        row = _row(found, golden, rule, scales)
        place = (found.mode, found.kind, found.name, found.call, found.key or found.problem)
        rows[place] = _merge(rows[place], row) if place in rows else row
    differences = tuple(_set_apart(row, golden, rule) for row in rows.values())
    culprits = culprits_of(differences, golden)
    return Verdict(differences, culprits, first_of(differences, culprits))


def _set_apart(row: Difference, golden: Golden, rule: Rule) -> Difference:
    """Where the reference does not agree with itself, nothing can be said of the conversion."""
    if row.mode == "init":
        return set_initial_apart(row)
    recorded = golden.modes.get(row.mode)
    if row.note or recorded is None or row.incomparable:
        return row
    measured = row.own_reference_error if not math.isnan(row.own_error) else row.reference_error
    is_far = rule.floor >= GROSS and math.isfinite(row.max_rel)  # where squares of tiny values are zero, for instance
    if measured > RANDOM and (recorded.is_random or is_far or not math.isnan(row.own_error)):
        cause = "the reference is random here" if recorded.is_random else "rounding decides here"
        why = f"{cause}: {measured:.0e} between two runs of its own"
        return replace(row, passed=True, incomparable=why)
    if row.passed and row.kind == "network" and row.tolerance >= MEANINGLESS:
        return replace(
            row, incomparable=f"rounding decides here: {golden.framework} itself is {row.reference_error:.0e} off"
        )
    return row


def set_initial_apart(row: Difference) -> Difference:
    if row.note or not row.own_reference_error > RANDOM or row.own_error == 0.0:
        return row
    return replace(row, passed=True, incomparable="it is random, or was trained: the two sides start with other values")


def _scales(golden: Golden, rule: Rule) -> dict[str, float]:
    """What an error is divided by: the largest value, or, where a sum cancels, what makes the floor as wide as its rounding."""
    scales = {key: reference.scale for key, reference in golden.references.items()}
    for mode in golden.modes.values():
        largest = max((scales[key] for key in mode.parameters.values()), default=0.0)
        for key in mode.parameters.values():
            cancelled = CANCELLED * golden.references[key].sum / (SUMS * rule.floor)
            scales[key] = max(scales[key], cancelled, LEAST * largest)
        modules: dict[str, float] = {}
        for name, key in mode.buffers.items():
            module = name.rpartition(".")[0]
            modules[module] = max(modules.get(module, 0.0), scales[key])
        for name, key in mode.buffers.items():
            scales[key] = max(scales[key], TRACKED * modules[name.rpartition(".")[0]])
    return scales


def _row(found: Measurement, golden: Golden, rule: Rule, scales: dict[str, float]) -> Difference:
    reference = golden.references.get(found.key, Reference(0.0))
    scale = scales.get(found.key, 0.0)
    if found.mode == "init":
        scale = _size(golden, found.key)
    is_own = found.run == "own"
    noise = reference.own if is_own else reference.whole
    if not scale and 0 < noise < math.inf:  # zero but for rounding: that is what an error is measured against
        scale = rule.k * noise / rule.floor
    error, measured = _ratio(0.0 if found.max_abs < SMALLEST else found.max_abs, scale), _ratio(noise, scale)
    tolerance = _tolerance(found, golden, rule, measured)
    passed = not found.problem and error <= tolerance
    row = Difference(
        found.name,
        found.kind,
        found.shape,
        found.max_abs,
        error,
        found.cosine,
        tolerance,
        measured,
        NAN,
        passed,
        mode=found.mode,
        call=found.call,
        note=found.problem,
    )
    if not passed and _is_choice(found, golden):
        row = replace(row, passed=True, incomparable="whole numbers that a rounding may turn")
    return replace(row, own_error=error, own_tolerance=tolerance, own_reference_error=measured) if is_own else row


def _size(golden: Golden, key: str) -> float:
    import numpy as np

    values = np.abs(np.asarray(golden.array(key), np.float64))
    return float(values[np.isfinite(values)].max(initial=0.0))


def _is_whole(key: str, golden: Golden) -> bool:
    entry = golden.entries.get(key)
    return entry is not None and entry["dtype"] not in FRACTIONS


def _is_choice(found: Measurement, golden: Golden) -> bool:
    """A choice (argmax, top-k) may turn on a rounding that came in from before; made on the same values only if torch's own turns too.

    That is where values are equal, such as scores that a sigmoid has brought to 1.
    """
    if found.problem or not (_is_whole(found.key, golden) and golden.complete):
        return False
    beside = [golden.references.get(key, Reference(0.0)) for key in _whole_beside(found.key, golden)]
    if any(reference.own > 0 or reference.whole > 0 for reference in beside):
        return True
    return found.run == "whole" and 1 - found.cosine <= CHOICES


def _whole_beside(key: str, golden: Golden) -> set[str]:
    """The whole numbers that the same calls return: a choice that turns gives another row and another label."""
    calls = [call.outputs for mode in golden.modes.values() for call in mode.calls if key in call.outputs]
    return {key, *(each for outputs in calls for each in outputs if _is_whole(each, golden))}


def _tolerance(found: Measurement, golden: Golden, rule: Rule, measured: float) -> float:
    if _is_whole(found.key, golden):
        return 0.0
    if found.mode == "init":
        return _initial_tolerance(golden, rule, measured)
    recorded = golden.modes.get(found.mode)
    floor = _floor(found, golden, rule)
    if golden.complete and recorded is not None and recorded.reference == "float32":
        depth = max(len(mode.calls) for mode in golden.modes.values())
        floor *= rule.k * (math.sqrt(depth) if found.run == "whole" or found.kind != "output" else 1.0)
    if found.mode == "amp":
        return max(HALF, rule.k * measured)
    is_first = found.run == "whole" and not golden.complete
    extra = (
        1.0 if found.kind == "network" or is_first else 0.0
    )  # there the reference is torch's float32, which errs as well
    return floor if math.isnan(measured) else max(floor, (rule.k + extra) * measured)


def _initial_tolerance(golden: Golden, rule: Rule, measured: float) -> float:
    """Where it was not measured yet, a buffer that is off is measured afterwards, see result.py."""
    if not math.isnan(measured):
        return max(rule.floor, rule.k * measured)
    return INITIAL if golden.complete else rule.floor


def _floor(found: Measurement, golden: Golden, rule: Rule) -> float:
    if found.kind in ("parameter", "buffer", "update"):  # sums, or element by element
        return _sum_floor(golden, rule)
    shape = golden.entries[found.key]["shape"] if found.key in golden.entries else found.shape or (FEW,)
    floor = rule.floor * math.sqrt(max(1.0, FEW / max(1, math.prod(shape))))
    return max(floor, _sum_floor(golden, rule)) if found.mode == "steps" or found.kind == "input gradient" else floor


def _sum_floor(golden: Golden, rule: Rule) -> float:
    """A parameter's gradient is a sum over samples and places, which MindSpore adds up in plain order: rounding grows with its length."""
    shapes = [golden.entries[item.key]["shape"] for item in golden.inputs if item.key in golden.entries]
    longest = max((math.prod(shape) for shape in shapes), default=1)
    return max(SUMS * rule.floor, ROUNDING * math.sqrt(longest))


def _merge(row: Difference, other: Difference) -> Difference:
    """The same tensor as the network runs, and on the reference's values."""
    whole, own = (row, other) if math.isnan(row.own_error) else (other, row)
    return replace(
        whole,
        own_error=own.own_error,
        own_tolerance=own.own_tolerance,
        own_reference_error=own.own_reference_error,
        passed=own.passed and (whole.passed or _is_carried(whole)),
        note=whole.note or own.note,
        incomparable=whole.incomparable if own.passed else "",
    )


def _is_carried(row: Difference) -> bool:
    """Barely too far off inside the network, where the errors of several modules meet. Its outputs are judged without this."""
    return row.kind == "output" and not row.note and row.max_rel <= CARRIED * row.tolerance


def _ratio(error: float, scale: float) -> float:
    if math.isnan(error) or error == 0.0:
        return error
    return error / scale if scale else math.inf
