"""Several networks of one run, compared one by one, as one Comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..artifacts import Comparison, Coverage, Gap, Outcome
from ..observation import Observation
from .use import Comparable


def joined(
    found: Sequence[Comparable], results: Sequence[Comparison], missing: Sequence[str], uncalled: Sequence[str] = ()
) -> Comparison:
    """Where there is more than one, names begin with the network's class. What is `missing` or `uncalled` is a gap."""
    notes = tuple(f"not compared by itself: {each}" for each in (*missing, *uncalled))
    gaps = [_gap(each, "not comparable") for each in missing] + [_gap(each, "not reached") for each in uncalled]
    if not results:
        coverage = Coverage({}, tuple(gaps))
        return Comparison("", "", (), None, False, notes=notes, outcome=Outcome.PARTIAL, coverage=coverage)
    if len(results) == 1:
        only = results[0]
        shapes = "; ".join(found[0].network.shapes[:1])
        whole = replace(only, inputs=f"{shapes}, as the run gave it", notes=(*only.notes, *notes))
        return with_gaps(whole, gaps)
    names = distinct([each.network.name.rpartition(".")[2] for each in found])
    wrong = next((index for index, each in enumerate(results) if each.outcome is Outcome.DIFFERENT), -1)
    first = f"{names[wrong]}.{results[wrong].first_divergence}" if wrong >= 0 else ""
    compared: Counter[str] = Counter()
    for name, each in zip(names, results, strict=True):
        if each.coverage is not None:
            compared.update(each.coverage.compared)
            gaps += [replace(gap, name=f"{name}.{gap.name}" if gap.name else name) for gap in each.coverage.gaps]
    outcome = Outcome.DIFFERENT if wrong >= 0 else Outcome.SAME
    whole = Comparison(
        ", ".join(each.model for each in found),
        "; ".join(each.network.shapes[0] for each in found if each.network.shapes),
        tuple(
            replace(row, name=f"{name}.{row.name}" if row.name else name)
            for name, each in zip(names, results, strict=True)
            for row in each.differences
        ),
        None,
        outcome is Outcome.SAME,
        first,
        sum(each.seconds for each in results),
        tuple(f"{name}.{path}" for name, each in zip(names, results, strict=True) for path in each.culprits),
        tuple(f"{name}.{path}" for name, each in zip(names, results, strict=True) for path in each.unmatched),
        (*dict.fromkeys(note for each in results for note in each.notes), *notes),
        tuple(line for each in results for line in each.diagnosis),
        next((each.script for each in results if each.script), ""),
        outcome,
        Coverage(dict(compared)),
    )
    return with_gaps(whole, gaps)


def _gap(told: str, state: str) -> Gap:
    """Of "net.Net: why"."""
    name, _, why = told.partition(": ")
    return Gap("network", name, state, why)


def with_gaps(result: Comparison, gaps: Sequence[Gap]) -> Comparison:
    """The comparison with more that it has not seen: "same" becomes "same as far as compared" if it matters."""
    known = result.coverage or Coverage({})
    coverage = replace(known, gaps=(*known.gaps, *gaps))
    if result.outcome is Outcome.DIFFERENT or coverage.is_complete:
        return replace(result, coverage=coverage)
    return replace(result, coverage=coverage, outcome=Outcome.PARTIAL, passed=False)


def unnamed_networks(observation: Observation | None, model: str) -> list[Gap]:
    """Where mindferry.toml names one network, those that the run called besides."""
    networks = observation.networks if observation is not None else ()
    others = [each.name for each in networks if each.name.rpartition(".")[2] not in model] if len(networks) > 1 else []
    return [_gap(f"{name}: mindferry.toml names another network", "not comparable") for name in dict.fromkeys(others)]


def distinct(names: Sequence[str]) -> list[str]:
    """Net, Net -> Net, Net 2: two networks of one class stay apart."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return found


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


def reached_in_any_way(found: Sequence[Comparable], results: Sequence[Comparison]) -> list[Comparison]:
    """A network that the run called in several ways: what one of them reached and compared is no gap of the others."""
    missed = [_not_reached(each) for each in results]
    whole = []
    for one, result in zip(found, results, strict=True):
        same = [names for other, names in zip(found, missed, strict=True) if other.network is one.network]
        whole.append(_without_gaps(result, frozenset.intersection(*same)))
    return whole


def _not_reached(result: Comparison) -> frozenset[tuple[str, str]]:
    gaps = result.coverage.gaps if result.coverage is not None else ()
    return frozenset((gap.subject, gap.name) for gap in gaps if gap.state == "not reached")


def _without_gaps(result: Comparison, kept: frozenset[tuple[str, str]]) -> Comparison:
    """Less the gaps of what was not reached, but those in `kept`."""
    if result.coverage is None:
        return result
    gaps = [gap for gap in result.coverage.gaps if gap.state != "not reached" or (gap.subject, gap.name) in kept]
    coverage = replace(result.coverage, gaps=tuple(gaps))
    if result.outcome is not Outcome.PARTIAL or not coverage.is_complete:
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
