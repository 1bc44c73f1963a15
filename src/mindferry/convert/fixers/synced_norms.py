"""`SyncBatchNorm` keeps its meaning on one device only: on several processes, each normalizes by its own part of the batch. That is said."""

from __future__ import annotations

import ast

from ... import findings
from ..context import Context

API = "torch.nn.SyncBatchNorm"
ADVICE = "nothing to do on one device; on several Ascend devices use mindspore.nn.SyncBatchNorm; on CPU give each process a batch large enough"


def prepare(context: Context) -> None:
    if b"SyncBatchNorm" not in context.source.data:
        return
    for node in context.source.of(ast.Call):
        if context.api(node.func) in (API, f"{API}.convert_sync_batchnorm"):
            context.find(
                node,
                findings.MF207,
                "SyncBatchNorm: statistics are each process's own here, torch's are over all processes",
                ADVICE,
            )


def finish(context: Context) -> None:
    pass
