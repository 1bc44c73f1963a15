"""Comparison -> what a person reads: a table in execution order, and a few lines of verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.table import Table

from ..artifacts import Comparison, Difference, Gap, Outcome

SHOWN = 40
GAPS = 8  # that are printed; all are in verify.json


def rows(comparison: Comparison) -> Table:
    """All that failed; if nothing did, the network's outputs and the worst of each kind."""
    failing = [d for d in comparison.differences if not d.passed]
    chosen = failing[:SHOWN] if failing else _headline(comparison.differences)
    table = Table(box=None, pad_edge=False)
    for title in ("", "mode", "what", "name"):
        table.add_column(title, overflow="fold")
    for title in ("error", "allowed", "own", "allowed"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in chosen:
        table.add_row(*_cells(row), style="" if row.passed else "red")
    if len(failing) > SHOWN:
        table.add_row("", "", "", f"… and {len(failing) - SHOWN} more")
    return table


def _headline(differences: Sequence[Difference]) -> list[Difference]:
    network = [d for d in differences if d.kind == "network"]
    worst: dict[tuple[str, str], Difference] = {}
    for row in differences:
        place = (row.mode, row.kind)
        if row.kind != "network" and (place not in worst or _strain(row) > _strain(worst[place])):
            worst[place] = row
    return [*network, *worst.values()]


def _strain(row: Difference) -> float:
    """How much of what is allowed was used."""
    shares = [row.max_rel / row.tolerance if row.tolerance else 0.0]
    if row.own_tolerance > 0:
        shares.append(row.own_error / row.own_tolerance)
    return max(share for share in shares if not math.isnan(share))


def _cells(row: Difference) -> list[str]:
    name = (row.name or "(network)") + (f" (call {row.call + 1})" if row.call else "")
    numbers = [row.max_rel, row.tolerance, row.own_error, row.own_tolerance]
    if row.kind in ("gradient", "parameter", "buffer"):
        numbers[:2] = [math.nan, math.nan]  # measured on the reference's values alone
    if row.note:
        name += f": {row.note}"
    mode = f"{row.mode}, {row.inputs}" if row.inputs else row.mode
    mark = "–" if row.incomparable else "✓" if row.passed else "✗"
    return [mark, mode, row.kind, name, *map(_number, numbers)]


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.1e}"


def summary(comparison: Comparison) -> Iterator[str]:
    """The verdict in sentences."""
    for note in comparison.notes:
        yield f"Note: {note}."
    for row in comparison.differences:
        if row.kind == "network" and not row.note and not row.inputs:
            share = f"{row.max_rel:.1e} of the largest value"
            yield f"{row.mode}: {comparison.framework} and MindSpore differ by at most {row.max_abs:.2e} in {row.name}, {share}."
    if comparison.unmatched:
        listed = "; ".join(comparison.unmatched[:5])
        more = len(comparison.unmatched) - 5
        yield f"Not matched: {listed}" + (f"; and {more} more." if more > 0 else ".")
    predictions = comparison.predictions
    if predictions is not None:
        yield (
            f"Predictions: {predictions.agree} of {predictions.samples} samples agree; "
            f"accuracy {predictions.reference_accuracy:.2%} in {comparison.framework}, {predictions.accuracy:.2%} in MindSpore."
            + (f" Differing: {', '.join(map(str, predictions.differing[:20]))}." if predictions.differing else "")
            + (f" Note: {predictions.note}." if predictions.note else "")
        )
    yield from _verdict(comparison)


def _verdict(comparison: Comparison) -> Iterator[str]:
    total, failed = len(comparison.differences), sum(not d.passed for d in comparison.differences)
    gaps, allowed = _gaps(comparison), f"{comparison.framework}'s own float32 error allows"
    if comparison.outcome is Outcome.SAME:
        yield f"Same: all {total} values within what {allowed}, and nothing was left out."
    elif comparison.outcome is Outcome.PARTIAL:
        yield f"Same as far as compared: all {total} values within what {allowed}, but not compared:"
        yield from gaps
    elif not failed:
        yield f"Different: the predictions, although all {total} values are within what {allowed}."
    else:
        yield f"Different: {failed} of {total} values are further off than {allowed}."
        if comparison.first_divergence:
            others = f", and then {', '.join(comparison.culprits[1:6])}" if len(comparison.culprits) > 1 else ""
            yield f"First divergence: {comparison.first_divergence}{others}."
        if gaps:
            yield "Not compared:"
            yield from gaps


def _gaps(comparison: Comparison) -> list[str]:
    if comparison.coverage is None:
        return []
    gaps = [gap for gap in comparison.coverage.gaps if gap.matters]
    more = [f"  and {len(gaps) - GAPS} more, listed in verify.json"] if len(gaps) > GAPS else []
    return [*map(gap_line, gaps[:GAPS]), *more]


def plural_gaps(comparison: Comparison) -> str:
    """ "3 things"."""
    count = sum(gap.matters for gap in comparison.coverage.gaps) if comparison.coverage is not None else 0
    return f"{count} thing{'' if count == 1 else 's'}"


def gap_line(gap: Gap) -> str:
    """ "  aux_head: AuxHead was never called"."""
    what = "" if gap.subject in ("module", "branch") else f"{gap.subject} "
    return f"  {what}{gap.name}: {gap.why}"


def failures(comparison: Comparison) -> Iterator[str]:
    """What failed, as plain text."""
    yield from (line for line in summary(comparison) if not line.startswith("Note"))
    for row in [d for d in comparison.differences if not d.passed][:10]:
        _, mode, kind, name, *numbers = _cells(row)
        error, allowed = numbers[2:] if numbers[2] else numbers[:2]
        yield f"  {mode} {kind} {name}: error {error}, allowed {allowed}"
