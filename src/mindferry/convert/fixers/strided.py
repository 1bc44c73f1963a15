"""`x[..., ::2, 1::2, :]`: the gradient of a strided slice fails on a CPU ("StridedSliceGrad … out of bounds") unless it is of the first axis."""

from __future__ import annotations

import ast
from functools import partial

from ...read.source import Source
from ..context import Context


def prepare(context: Context) -> None:
    for node in context.source.of(ast.Subscript):
        if isinstance(node.slice, ast.Tuple) and isinstance(node.ctx, ast.Load):
            picks = _picks(node.slice.elts, context.source)
            if picks and context.reading.type(node.value).is_tensor:
                context.turns[node] = partial(_rewrite, context, node, picks)
                context.handled |= set(ast.walk(node.slice))


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


def _rewrite(context: Context, node: ast.Subscript, picks: list[str]) -> None:
    source, before = context.source, context.source.text(node)
    context.edits.before(source.start(node), f"{context.imports.spell('compat.take_every')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    context.edits.replace(opening, source.end(node), f", {', '.join(picks)})")
    context.rewritten(node, "strided slice", before, context.edits.text(node))


def finish(context: Context) -> None:
    pass
