"""`conv(image)` outside of a class: torch's convolutions take one image without a batch, MindSpore's layers want a batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertBefore, ReplaceSpan, Texts


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Call):
        if isinstance(node.func, ast.Name | ast.Call) and _takes_one_input(node) and _runs_convolution(facts, node):
            yield AtNode(node, partial(_rewrite, facts, node))


def _takes_one_input(node: ast.Call) -> bool:
    return len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)


def _runs_convolution(facts: Facts, node: ast.Call) -> bool:
    """A network's own methods get batches; a layer that a script calls by itself may be shown a single image."""
    kind = facts.reading.type(node.func)
    return (
        kind.kind == "instance"
        and facts.uses.has(Use.IMAGE_CONVOLUTION, facts.reading.symbols.torch_base(kind.qual))
        and facts.enclosing(node, ast.ClassDef) is None
    )


def _rewrite(facts: Facts, node: ast.Call, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    yield InsertBefore(node, f"{texts.name('compat.call_with_batch')}(")
    opening = source.find_token(b"(", source.end(node.func), source.end(node))  # the layer may stand in parentheses
    yield ReplaceSpan(opening, opening + 1, ", ")
    yield facts.record(node, "convolution of one image", before, texts.of(node))
