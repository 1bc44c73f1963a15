"""`x[..., ::2, 1::2, :]`: the gradient of a strided slice fails on a CPU ("StridedSliceGrad … out of bounds") unless it is of the first axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.source import Source
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertBefore, ReplaceSpan, Texts, claim_all

Pick = tuple[int, ast.Slice]  # axis of what the other parts leave, negative behind `...`


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Subscript):
        if isinstance(node.slice, ast.Tuple) and isinstance(node.ctx, ast.Load):
            picks = _picks(node.slice.elts)
            if picks and _may_be_tensor(facts, node.value) and not any(_is_backward(part) for _, part in picks):
                yield AtNode(node, partial(_rewrite, facts, node, node.slice.elts, picks))
                yield claim_all(node.slice)


def _may_be_tensor(facts: Facts, node: ast.expr) -> bool:
    """What it is may be asked when it runs, but not of a table's `iloc`."""
    kind = facts.reading.type(node)
    return kind.is_tensor or (kind.kind == "unknown" and isinstance(node, ast.Name) and facts.source.mentions("torch"))


def _picks(parts: list[ast.expr]) -> list[Pick]:
    """The strided slices; nothing if something stands beside them that may take more or less than an axis."""
    found: list[Pick] = []
    axis = 0
    for index, part in enumerate(parts):
        match part:
            case ast.Constant(value=value) if value is ...:
                behind = parts[index + 1 :]
                axis = -sum(not _is_number(each) for each in behind)
                continue
            case ast.Slice(step=None) if _is_plain(part.lower) and _is_plain(part.upper):
                pass
            case ast.Slice() if all(map(_is_plain, (part.lower, part.upper, part.step))):
                found.append((axis, part))
            case ast.Constant(value=None):
                pass
            case _ if _is_number(part):
                continue
            case _:
                return []
        axis += 1
    return found


def _is_backward(part: ast.Slice) -> bool:
    """`img[:, ::-1]`: of an array; tensors have no negative steps."""
    return isinstance(part.step, ast.UnaryOp) and isinstance(part.step.op, ast.USub)


def _is_number(node: ast.expr) -> bool:
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_plain(node: ast.expr | None) -> bool:
    """Nothing, or a number that is written, named or computed from such."""
    match node:
        case None | ast.Name():
            return True
        case ast.Constant(value=value):
            return isinstance(value, int)
        case ast.Attribute(value=owner) | ast.UnaryOp(operand=owner):
            return _is_plain(owner)
        case ast.BinOp(left=left, right=right):
            return _is_plain(left) and _is_plain(right)
    return False


def _rewrite(
    facts: Facts, node: ast.Subscript, parts: list[ast.expr], picks: list[Pick], texts: Texts
) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    strided = {part for _, part in picks}
    rest = [":" if part in strided else source.text(part) for part in parts]
    kept = "" if set(rest) <= {":", "..."} else f"[{', '.join(rest)}]"
    yield InsertBefore(node, f"{texts.name('compat.take_every')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    is_tensor = facts.reading.type(node.value).is_tensor
    picked = ", ".join(_pick(source, *pick, is_tensor) for pick in picks)
    yield ReplaceSpan(opening, source.end(node), f"{kept}, {picked})")
    yield facts.record(node, "strided slice", before, texts.of(node))


def _pick(source: Source, axis: int, part: ast.Slice, is_tensor: bool) -> str:
    """(axis, start, step), and the end if there is one. Where an array's slice begins is for the sign of its step to say."""
    start, stop, step = (source.text(each) if each is not None else "" for each in (part.lower, part.upper, part.step))
    first = "0" if is_tensor or isinstance(part.step, ast.Constant) else "None"
    return f"({', '.join(filter(None, (str(axis), start or first, step, stop)))})"
