"""`with torch.device("cuda"):`: MindSpore places tensors itself, so the block stays and its context does nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, ReplaceNode, claim_all


def plan(facts: Facts) -> Iterator[Change]:
    for node in (*facts.source.of(ast.With), *facts.source.of(ast.AsyncWith)):
        for item in node.items:
            given, kind = item.context_expr, facts.reading.type(item.context_expr)
            if kind.kind == "instance" and kind.qual == facts.framework.device:
                yield claim_all(given)
                yield ReplaceNode(given, lambda texts: f"{texts.name('contextlib.nullcontext')}()")
                yield facts.record(
                    given, facts.framework.device, facts.source.text(given), lambda texts, given=given: texts.of(given)
                )
