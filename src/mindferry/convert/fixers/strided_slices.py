"""`x[..., ::2, 1::2, :]`: the gradient of a strided slice fails on a CPU ("StridedSliceGrad … out of bounds") unless it is of the first axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.source import Source
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertBefore, ReplaceSpan, Texts, claim_all


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Subscript):
        if isinstance(node.slice, ast.Tuple) and isinstance(node.ctx, ast.Load):
            picks = _picks(node.slice.elts, facts.source)
            if picks and facts.reading.type(node.value).is_tensor:
                yield AtNode(node, partial(_rewrite, facts, node, picks))
                yield claim_all(node.slice)


def _picks(parts: list[ast.expr], source: Source) -> list[str]:
    """(axis, start, step) of each strided slice; nothing if something else than `:` and `...` stands beside them."""
    found, axis = [], 0
    for index, part in enumerate(parts):
        match part:
            case ast.Constant(value=value) if value is ...:
                axis = index - len(parts)
            case ast.Slice(lower=None, upper=None, step=None):
                pass
            case ast.Slice(lower=lower, upper=None, step=ast.expr() as step) if _is_plain(step) and _is_start(lower):
                found.append(f"({axis}, {source.text(lower) if lower is not None else 0}, {source.text(step)})")
            case _:
                return []
        axis += 1
    return found


def _is_plain(node: ast.expr) -> bool:
    """A number, or a name for one: torch refuses negative steps."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and isinstance(node.value, int))


def _is_start(node: ast.expr | None) -> bool:
    """A negative one would need the length."""
    return node is None or (isinstance(node, ast.Constant) and isinstance(node.value, int))


def _rewrite(facts: Facts, node: ast.Subscript, picks: list[str], texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    yield InsertBefore(node, f"{texts.name('compat.take_every')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    yield ReplaceSpan(opening, source.end(node), f", {', '.join(picks)})")
    yield facts.record(node, "strided slice", before, texts.of(node))
