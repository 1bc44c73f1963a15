"""Pipelines -> what a person reads."""

from __future__ import annotations

from collections.abc import Iterator

from ..artifacts import Outcome
from .data import PipelineComparison, Pipelines
from .data_random import is_unknown

SHOWN = 10


def lines(found: Pipelines) -> Iterator[str]:
    for each in found.pipelines:
        yield _headline(each)
        for difference in each.differences[:SHOWN]:
            yield f"    {difference.where}: {difference.what}: {difference.detail}"
        if len(each.differences) > SHOWN:
            yield f"    … and {len(each.differences) - SHOWN} more"
        if each.places:
            yield f"    {'; '.join(each.places)}"
    wrong = sum(not each.passed for each in found.pipelines)
    total = len(found.pipelines)
    if found.outcome is Outcome.DIFFERENT:
        yield f"Different: {wrong} of {total} pipelines."
    elif found.outcome is Outcome.SAME:
        yield f"Same: {total} of {total} pipelines{_random_parts(found)}."
    else:
        yield f"Same as far as compared: {total} of {total} pipelines, but not compared:"
        yield from (f"  {each}" for each in _unknown(found))


def _random_parts(found: Pipelines) -> str:
    count = sum(place.endswith("mean and spread") for each in found.pipelines for place in each.places)
    return f", {count} random part{'s' if count > 1 else ''} of them in mean and spread" if count else ""


def _unknown(found: Pipelines) -> Iterator[str]:
    if not found.pipelines:
        yield found.why or "no loader was found"
    for each in found.pipelines:
        if not each.compared:
            yield f"{each.name}: the loader gave no batch"
        yield from (f"{each.name}, {place}" for place in each.places if is_unknown(place))


def _headline(each: PipelineComparison) -> str:
    kind = "random" if each.is_random else "in a fixed order"
    epochs = "/".join(map(str, each.lengths))
    error = f", largest difference {each.largest:.1e}" if each.largest else ""
    return (
        f"{'✓' if each.passed else '✗'} {each.name}: {epochs} batches an epoch, {kind}, {each.compared} compared{error}"
    )
