"""`x[lengths - 1]`: where one tensor of numbers is the index, MindSpore's gradient forgets the rows that are counted from the end."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertBefore, ReplaceSpan, Texts
from . import guard_empty_searches
from .bindings import Names


def plan(facts: Facts) -> Iterator[Change]:
    searched = facts.derived(guard_empty_searches.by_searched_places)  # no such place is counted from the end
    for node in facts.source.of(ast.Subscript):
        if not isinstance(node.ctx, ast.Load) or node in searched:
            continue
        if _is_by_one_tensor(facts, node) and _may_be_negative(facts, node.slice):
            yield AtNode(node, partial(_rewrite, facts, node))


def _is_by_one_tensor(facts: Facts, node: ast.Subscript) -> bool:
    return facts.reading.type(node.slice).is_tensor and facts.reading.type(node.value).is_tensor


def _may_be_negative(facts: Facts, index: ast.expr) -> bool:
    """A minus stands in the index, or in what the function gives its name. What was searched for is none of these."""
    values = [index]
    if isinstance(index, ast.Name):
        names = facts.derived(Names)
        stores = names.stores(names.scope(index), index.id)
        values = [parent.value for store in stores if isinstance(parent := facts.parents.get(store), ast.Assign)]
    parts = [part for value in values for part in ast.walk(value)]
    if any(isinstance(part, ast.Call) and facts.is_use(Use.SEARCH, part.func) for part in parts):
        return False
    return any(_subtracts(part) for part in parts) and not any(isinstance(part, ast.Compare) for part in parts)


def _subtracts(part: ast.AST) -> bool:
    match part:
        case ast.BinOp(op=ast.Sub()):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
    return False


def _rewrite(facts: Facts, node: ast.Subscript, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    yield InsertBefore(node, f"{texts.name('compat.take_counted')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    yield ReplaceSpan(opening, source.start(node.slice), ", ")
    yield ReplaceSpan(source.end(node.slice), source.end(node), ")")
    yield facts.record(node, "index counted from the end", before, texts.of(node))
