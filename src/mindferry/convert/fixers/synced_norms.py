"""`SyncBatchNorm` keeps its meaning on one device only: on several processes, each normalizes by its own part of the batch. That is said."""

from __future__ import annotations

from collections.abc import Iterator

from ... import findings
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change

ADVICE = "nothing to do on one device; on several Ascend devices use mindspore.nn.SyncBatchNorm; on CPU give each process a batch large enough"


def plan(facts: Facts) -> Iterator[Change]:
    if b"SyncBatchNorm" not in facts.source.data:
        return
    for node in facts.calls_for(Use.SYNCED_NORM):
        yield facts.found(
            node,
            findings.MF207,
            "SyncBatchNorm: statistics are each process's own here, torch's are over all processes",
            ADVICE,
        )
