"""`x[..., ::2, 1::2, :]`: the gradient of a strided slice fails on a CPU ("StridedSliceGrad … out of bounds") unless it is of the first axis."""

from __future__ import annotations

import ast
from functools import partial

from ..context import Context


def prepare(context: Context) -> None:
    for node in context.source.nodes:
        if type(node) is ast.Subscript and isinstance(node.slice, ast.Tuple) and isinstance(node.ctx, ast.Load):
            picks = _picks(node.slice.elts)
            if picks and context.reading.type(node.value).is_tensor:
                context.turns[node] = partial(_rewrite, context, node, picks)
                context.handled |= set(ast.walk(node.slice))


def _picks(parts: list[ast.expr]) -> list[tuple[int, int, int]]:
    """(axis, start, step) of each strided slice; nothing if something else than `:` and `...` stands beside them."""
    found, axis = [], 0
    for index, part in enumerate(parts):
        match part:
            case ast.Constant(value=value) if value is ...:
                axis = index + 1 - len(parts) - 1
            case ast.Slice(lower=None, upper=None, step=None):
                pass
            case ast.Slice(lower=None | ast.Constant(value=int()), upper=None, step=ast.Constant(value=int(step))):
                start = part.lower.value if isinstance(part.lower, ast.Constant) else 0
                if not isinstance(start, int) or start < 0 or step < 1:
                    return []
                found.append((axis, start, step))
            case _:
                return []
        axis += 1
    return found


def _rewrite(context: Context, node: ast.Subscript, picks: list[tuple[int, int, int]]) -> None:
    source, before = context.source, context.source.text(node)
    context.edits.before(source.start(node), f"{context.imports.spell('compat.take_every')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    context.edits.replace(opening, source.end(node), f", {', '.join(map(str, picks))})")
    context.rewritten(node, "strided slice", before, context.edits.text(node))


def finish(context: Context) -> None:
    pass
