"""One comparison's parts, and several joined to one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..artifacts import Difference
from ..frameworks.requests import Measured
from .blame import culprits_of, first_of
from .golden import Golden
from .judge import Rule, Verdict, judge, set_initial_apart
from .variants import is_far


@dataclass(frozen=True, slots=True)
class Result:
    golden: Golden
    measured: Measured
    verdict: Verdict


def needs_full(golden: Golden) -> bool:
    """Where the reference is random, only a second run with another seed tells what can be compared."""
    return any(mode.is_random for mode in golden.modes.values())


@dataclass(frozen=True, slots=True)
class Look:
    """How much of the reference is recorded: `inside` of its modules, `is_rough` as MindSpore's kernels compute."""

    inside: bool = False
    is_rough: bool = False


FIRST = Look()
ROOM = 2.0**60  # the square of a larger number, and of what is smaller than one part in so many, has no room in float32


def next_look(result: Result, last: Look) -> Look | None:
    """What is still to be looked at after a comparison; None if its verdict stands."""
    if not last.inside:
        is_settled = result.verdict.passed and not (needs_full(result.golden) or result.measured.keeps_state)
        return None if is_settled else Look(inside=True)
    is_settled = last.is_rough or result.verdict.passed or not result.golden.rough
    return None if is_settled else Look(inside=True, is_rough=True)


def leaves_float32(said: str, result: Result) -> bool:
    """Whether a variant that nobody asked for differs where its numbers are too large or too small to be squared.

    Who adds up in float64 in between, as torch's `std` does, has a number there, and who does not has none, or zero.
    """
    if not is_far(said) or result.verdict.passed:
        return False
    return any(each.scale > ROOM or 0 < each.scale < 1 / ROOM for each in result.golden.references.values())


def closer(plain: Result, rough: Result) -> Result:
    """Of a comparison with torch and one with torch that computes as MindSpore's kernels do: each value where it is closer.

    A conversion may call one of these kernels and not another.
    """
    if rough.verdict.passed:
        return rough
    pairs = list(_pairs(plain.verdict.differences, rough.verdict.differences))
    rows = tuple(ours if ours.passed or ours.note or not other.passed else other for ours, other in pairs)
    culprits = culprits_of(rows, plain.golden)
    golden = replace(plain.golden, is_rough=any(row is other for row, (_, other) in zip(rows, pairs, strict=True)))
    return Result(golden, plain.measured, Verdict(rows, culprits, first_of(rows, culprits)))


def _pairs(ones: Sequence[Difference], others: Sequence[Difference]) -> Iterator[tuple[Difference, Difference]]:
    """Each with what was found in the same place; with itself where the two have not as many there."""
    found: dict[tuple[str, str, str, int], list[Difference]] = {}
    for row in others:
        found.setdefault(_place(row), []).append(row)
    counts = Counter(map(_place, ones))
    found = {place: rows for place, rows in found.items() if len(rows) == counts[place]}
    for row in ones:
        yield row, found[_place(row)].pop(0) if _place(row) in found else row


def _place(row: Difference) -> tuple[str, str, str, int]:
    return row.mode, row.kind, row.name, row.call


def confirmed(first: Result, found: Result, rule: Rule) -> Result:
    """A closer look, held against what the network returned before while nothing was watched: a network may tell the two apart."""
    if not found.verdict.passed or found.golden.is_rough:
        return found
    keys = {row.name: row.key for row in found.measured.measurements if row.kind == "network" and row.run == "whole"}
    outputs = [
        replace(row, key=keys[row.name])  # where only the network was recorded, its outputs go by other keys
        for row in first.measured.measurements
        if row.kind == "network" and row.name in keys
    ]
    failing = [row for row in judge(outputs, found.golden, rule).differences if not row.passed]
    if not failing:
        return found
    why = "it returns something else when its modules are not watched"
    rows = (*found.verdict.differences, *(replace(row, note=row.note or why) for row in failing))
    return replace(found, verdict=Verdict(rows, (failing[0].name,), failing[0].name))


def notes_on(golden: Golden) -> tuple[str, ...]:
    """What the reader of a verdict has to know of the reference."""
    notes = []
    if golden.why:
        notes.append(
            f"the reference does not run in float64 ({golden.why}): tolerances by dtype, depth and a run with jitter"
        )
    if golden.is_rough:
        notes.append(
            "MindSpore's own tanh and exp are off by up to 1e-4 and 3e-5 on a CPU: the conversion is held against torch with their formulas, "
            "and what a softmax, a sigmoid or a logarithm may be off by there is allowed for"
        )
    return tuple(notes)


def judge_initial(verdict: Verdict, errors: Mapping[str, float], rule: Rule) -> Verdict:
    """Buffers by how far the reference's own constructor is off; those that come out otherwise at every start are not comparable."""
    rows = tuple(
        _settled(row, errors[row.name], rule) if _is_unsettled(row) and row.name in errors else row
        for row in verdict.differences
    )
    settled = {row.name for row in rows if row.mode == "init" and row.passed}
    failing = {row.name for row in rows if not row.passed}
    culprits = tuple(name for name in verdict.culprits if name not in settled or name in failing)
    return replace(verdict, differences=rows, culprits=culprits, first_divergence=first_of(rows, culprits))


def has_unsettled(verdict: Verdict) -> bool:
    return any(map(_is_unsettled, verdict.differences))


def _is_unsettled(row: Difference) -> bool:
    return row.mode == "init" and not row.passed and not row.note


def _settled(row: Difference, error: float, rule: Rule) -> Difference:
    measured = error * row.max_rel / row.max_abs if row.max_abs else error
    allowed = max(row.tolerance, rule.k * measured) if error else row.tolerance
    return set_initial_apart(
        replace(
            row,
            tolerance=allowed,
            own_tolerance=allowed,
            reference_error=measured,
            own_reference_error=measured,
            passed=row.own_error <= allowed,
        )
    )


def join(verdicts: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Verdicts on several sets of inputs, each with its description; "" for the one that was asked for."""
    rows = []
    for said, verdict in verdicts:
        shown = [row for row in verdict.differences if not said or row.kind == "network" or not row.passed]
        if is_far(said):  # what can't be told there was not asked for
            shown = [row for row in shown if not (row.passed and row.incomparable)]
        rows += [
            replace(row, inputs=said) if row.mode != "init" else row
            for row in shown
            if not (said and row.mode == "init")
        ]
    culprits = tuple(dict.fromkeys(name for _, verdict in verdicts for name in verdict.culprits))
    first = next((verdict.first_divergence for _, verdict in verdicts if not verdict.passed), "")
    return Verdict(tuple(rows), culprits, first)
