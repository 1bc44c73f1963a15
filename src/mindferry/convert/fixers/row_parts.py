"""`out[i, :n] = rows`: MindSpore's gradient of what is written so has an axis too many, and flips and sums along the wrong one, without a word."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...apis.quirks import applies
from ...read.types import UNKNOWN
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceSpan, Texts
from .in_place.holders import is_without_gradients
from .whole_slices import is_whole

AFTER = ("in_place", "leading_ones", "written_places")


def plan(facts: Facts) -> Iterator[Change]:
    if not applies("gradient of what is written to a part of a row", facts.settings.target):
        return
    for assignment in facts.source.of(ast.Assign):
        if len(assignment.targets) == 1 and _may_be_of_tensor(facts, assignment.value):
            yield from _planned(facts, assignment, assignment.targets[0])
    for statement in facts.source.of(ast.Expr):
        match statement.value:
            case ast.Call(func=ast.Attribute(value=target, attr=method), args=[value, *_]) if method.endswith("_"):
                if _may_be_of_tensor(facts, value):
                    yield from _planned(facts, statement, target)


def _planned(facts: Facts, node: ast.stmt, target: ast.expr) -> Iterator[Change]:
    match target:
        case ast.Subscript(value=base, slice=ast.Tuple(elts=[first, *rest])) if rest and all(map(_is_slice, rest)):
            if facts.reading.type(base).is_tensor and _is_place(facts, first) and _may_record(facts, node):
                yield AtEnd(partial(_write, facts, node, target, base))


def _is_slice(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) or is_whole(part)


def _is_place(facts: Facts, index: ast.expr) -> bool:
    """One place of the first axis, named by a number."""
    is_slice = isinstance(index, ast.Slice | ast.Starred) or is_whole(index)
    return not is_slice and not facts.reading.type(index).is_tensor


def _may_be_of_tensor(facts: Facts, value: ast.expr) -> bool:
    kind = facts.reading.type(value)
    return not isinstance(value, ast.Constant | ast.Tuple | ast.List) and (kind.is_tensor or kind == UNKNOWN)


def _may_record(facts: Facts, node: ast.stmt) -> bool:
    is_in_function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) is not None
    return is_in_function and not is_without_gradients(facts, node)


def _write(facts: Facts, node: ast.stmt, target: ast.Subscript, base: ast.expr, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    part, _, value = texts.of(node).partition(" = ")
    if not value or part != texts.of(target):
        return  # another fixer writes it in a way of its own
    assert isinstance(target.slice, ast.Tuple)
    first, *rest = target.slice.elts
    if all(map(is_whole, rest)):
        text = f"{texts.of(base)}[{texts.of(first)}] = {value}"
    else:
        text = f"{part} = {texts.name('compat.with_own_shape')}({value})"
    yield ReplaceSpan(source.start(node), source.end(node), text, swallows=True)
    yield facts.record(node, "part of a row", before, text)
