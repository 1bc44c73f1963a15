"""`values[t] = value` where value is of shape (1, n): torch drops the leading ones of what is assigned, MindSpore fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, Texts
from .bindings import Names

AFTER = ("in_place", "whole_slices")
RESHAPING = frozenset({"view", "reshape", "expand", "repeat"})


def plan(facts: Facts) -> Iterator[Change]:
    found: list[tuple[ast.Assign, ast.Subscript]] = []
    for node in facts.source.of(ast.Assign):
        match node.targets[0]:
            case ast.Subscript(value=ast.Name() | ast.Attribute(), slice=index) as target if _is_plain(index):
                if facts.reading.type(target.value).is_tensor:
                    found.append((node, target))
    for node, target in found:
        if _may_start_with_one(facts, node.value, set()):
            yield AtEnd(partial(_rewrite, facts, node, target))


def _is_plain(index: ast.expr) -> bool:
    """It may be evaluated twice."""
    return not any(isinstance(each, ast.Call | ast.NamedExpr | ast.Await) for each in ast.walk(index))


def _may_start_with_one(facts: Facts, value: ast.expr, seen: set[tuple[str, ast.AST]]) -> bool:
    """Whether a new first axis is made in the value, or in what it is computed from in the same function."""
    names = facts.derived(Names)
    for each in ast.walk(value):
        if _adds_one(each):
            return True
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            key = (each.id, names.scope(each))
            if key in seen:
                continue
            seen.add(key)
            for store in names.stores(key[1], each.id):
                given = _given(facts, store)
                if given is not None and _may_start_with_one(facts, given, seen):
                    return True
    return False


def _given(facts: Facts, store: ast.Name) -> ast.expr | None:
    statement: ast.AST | None = facts.parents.get(store)
    while isinstance(statement, ast.Tuple | ast.List | ast.Starred):
        statement = facts.parents.get(statement)
    return statement.value if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) else None


def _adds_one(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[*_, ast.Constant(value=0)]):
            return True
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), keywords=[ast.keyword(value=ast.Constant(value=0))]):
            return True
        case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=1), _, *_]) if method in RESHAPING:
            return True
        case ast.Call(func=ast.Attribute(attr=method), args=[ast.Tuple(elts=[ast.Constant(value=1), _, *_])]):
            return method in RESHAPING
        case ast.Subscript(slice=ast.Constant(value=None)):
            return True
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Constant(value=None), *_])):
            return True
    return False


def _rewrite(facts: Facts, node: ast.Assign, target: ast.Subscript, texts: Texts) -> Iterator[Edit]:
    source, before, part = facts.source, facts.source.text(node), texts.of(target)
    if not texts.of(node).lstrip().startswith(part):
        return  # another fixer writes it in a way of its own
    yield InsertBefore(source.value_start(node), f"{texts.name('compat.without_leading_ones')}(")
    yield InsertAfter(node, f", {part})")
    yield facts.record(node, "leading ones", before, texts.of(node))
