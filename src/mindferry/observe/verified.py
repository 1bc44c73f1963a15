"""Several networks of one run, compared one by one, as one Comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..artifacts import Comparison, Gap, Outcome
from ..observation import Observation
from .use import Comparable


def joined(found: Sequence[Comparable], results: Sequence[Comparison], missing: Sequence[str]) -> Comparison:
    """Where there is more than one, names begin with the network's class."""
    notes = tuple(f"not compared by itself: {each}" for each in missing)
    if len(results) == 1:
        only = results[0]
        shapes = "; ".join(found[0].network.shapes[:1])
        return replace(only, inputs=f"{shapes}, as the run gave it", notes=(*only.notes, *notes))
    names = [each.network.name.rpartition(".")[2] for each in found]
    wrong = next((index for index, each in enumerate(results) if not each.passed), -1)
    first = f"{names[wrong]}.{results[wrong].first_divergence}" if wrong >= 0 else ""
    return Comparison(
        ", ".join(each.model for each in found),
        "; ".join(each.network.shapes[0] for each in found if each.network.shapes),
        tuple(
            replace(row, name=f"{name}.{row.name}" if row.name else name)
            for name, each in zip(names, results, strict=True)
            for row in each.differences
        ),
        None,
        all(each.passed for each in results),
        first,
        sum(each.seconds for each in results),
        tuple(f"{name}.{path}" for name, each in zip(names, results, strict=True) for path in each.culprits),
        tuple(f"{name}.{path}" for name, each in zip(names, results, strict=True) for path in each.unmatched),
        (*dict.fromkeys(note for each in results for note in each.notes), *notes),
        tuple(line for each in results for line in each.diagnosis),
        next((each.script for each in results if each.script), ""),
    )


def as_the_run_reached(result: Comparison, observation: Observation) -> Comparison:
    """Branches that the user's own run did not reach either are no gaps here: the run's verdict names them itself.

    The conversion has such a branch too, at another line: it is known by its class, and there are as many.
    """
    if result.outcome is not Outcome.PARTIAL or result.coverage is None:
        return result
    reached = {(Path(file.path).name, line) for file in observation.files for line in file.lines}
    unreached = {(Path(file.path).name, line) for file in observation.files for line in file.unreached} - reached
    missed = [gap for gap in result.coverage.gaps if gap.matters and gap.subject == "branch"]
    theirs = [gap for gap in missed if not _is_converted(gap) and _place(gap) in unreached]
    left = [_owner(gap) for gap in theirs]
    dismissed = [*theirs]
    for gap in missed:
        if _is_converted(gap) and _owner(gap) in left:
            left.remove(_owner(gap))
            dismissed.append(gap)
    gaps = tuple(replace(gap, matters=False) if gap in dismissed else gap for gap in result.coverage.gaps)
    coverage = replace(result.coverage, gaps=gaps)
    if not coverage.is_complete:
        return replace(result, coverage=coverage)
    return replace(result, coverage=coverage, outcome=Outcome.SAME, passed=True)


def _is_converted(gap: Gap) -> bool:
    return "in the conversion" in gap.why


def _place(gap: Gap) -> tuple[str, int]:
    path, _, line = gap.name.rpartition(" line ")
    return path, int(line) if line.isdigit() else 0


def _owner(gap: Gap) -> str:
    """TransformerModel of `never ran: TransformerModel.forward, …`."""
    return gap.why.partition(": ")[2].partition(",")[0].rpartition(".")[0]
