"""`m = x > 1`, then `m * a + m * b`: MindSpore adds up gradients of true and false, which have none, and fails. They are cut off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.walk import walk
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertAfter, InsertBefore, Texts
from .operators import ARITHMETIC, SAME_KIND, is_boolean

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.BinOp):
        if isinstance(node.op, ast.Mult) and _is_condition(facts, node.left) and _is_condition(facts, node.right):
            yield AtNode(node, partial(_cut_off, facts, node))
    for statement in facts.source.of(ast.Assign):
        value, targets = statement.value, statement.targets
        if isinstance(targets[0], ast.Name) and len(targets) == 1 and _is_condition(facts, value):
            uses = [each for each in _reads(facts, statement, targets[0].id) if _is_computed_with(facts, each)]
            if len(uses) > 1:
                yield AtNode(value, partial(_cut_off, facts, value))


def _is_condition(facts: Facts, node: ast.expr) -> bool:
    kind = facts.reading.type(node)
    is_told = kind.is_tensor or (kind.kind in ("unknown", "bool") and _names_places(node))
    return isinstance(node, ast.Compare | ast.BinOp) and is_told and is_boolean(facts, node)


def _names_places(node: ast.expr) -> bool:
    """Whether something in it is indexed as only arrays are: `grid[:, :-1]`."""
    return any(isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Tuple) for each in walk(node))


def _reads(facts: Facts, statement: ast.Assign, name: str) -> Iterator[ast.Name]:
    scope = facts.enclosing(statement, *FUNCTIONS) or facts.source.tree
    for each in walk(scope):
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
            yield each


def _is_computed_with(facts: Facts, node: ast.AST) -> bool:
    """An operand of arithmetic, also by a part of it or in another shape."""
    match parent := facts.parents.get(node):
        case ast.BinOp(op=operator):
            return isinstance(operator, ARITHMETIC)
        case ast.Subscript(value=value) if value is node:
            return _is_computed_with(facts, parent)
        case ast.Attribute(attr=name) if name in SAME_KIND:
            call = facts.parents.get(parent)
            return isinstance(call, ast.Call) and call.func is parent and _is_computed_with(facts, call)
    return False


def _cut_off(facts: Facts, node: ast.expr, texts: Texts) -> Iterator[Edit]:
    is_tensor = facts.reading.type(node).is_tensor
    yield InsertBefore(node, f"{texts.name('mindspore.ops.stop_gradient' if is_tensor else 'compat.detached')}(")
    yield InsertAfter(node, ")")
    yield facts.record(node, "true and false", facts.source.text(node), texts.of(node))
