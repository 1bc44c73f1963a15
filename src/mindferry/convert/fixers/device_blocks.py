"""`with torch.device("cuda"):`: MindSpore places tensors itself, so the block stays and its context does nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceNode, Texts, claim_all


def plan(facts: Facts) -> Iterator[Change]:
    for item in facts.source.of(ast.withitem):
        kind = facts.reading.type(item.context_expr)
        if kind.kind == "instance" and kind.qual == facts.framework.device:
            yield claim_all(item.context_expr)
            yield AtEnd(partial(_pass_by, facts, item.context_expr))


def _pass_by(facts: Facts, device: ast.expr, texts: Texts) -> Iterator[Edit]:
    yield ReplaceNode(device, f"{texts.name('contextlib.nullcontext')}()")
    yield facts.record(device, facts.framework.device, facts.source.text(device), texts.of(device))
