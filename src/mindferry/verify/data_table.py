"""Pipelines -> what a person reads."""

from __future__ import annotations

from collections.abc import Iterator

from .data import PipelineComparison, Pipelines

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
    yield f"Same: {total} of {total} pipelines." if found.passed else f"Different: {wrong} of {total} pipelines."


def _headline(each: PipelineComparison) -> str:
    kind = "random" if each.is_random else "in a fixed order"
    epochs = "/".join(map(str, each.lengths))
    error = f", largest difference {each.largest:.1e}" if each.largest else ""
    return (
        f"{'✓' if each.passed else '✗'} {each.name}: {epochs} batches an epoch, {kind}, {each.compared} compared{error}"
    )
