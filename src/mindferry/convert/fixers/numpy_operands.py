"""`np.sqrt(2) * x`, `labels == np.int64(1)`: numpy takes an operation over from MindSpore's tensors, and the gradient is lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.selections import assigned_values
from ..facts import Facts
from ..plan import AtNode, Change, Edit, ReplaceNode, Texts
from .data_arrays import data_zones

MAKERS = frozenset("array asarray arange zeros ones full eye linspace stack concatenate astype numpy".split())


def plan(facts: Facts) -> Iterator[Change]:
    found = [*_arithmetic(facts), *_comparisons(facts)]
    zones = [part for zone in facts.derived(data_zones) for part in zone] if found else []
    for operand in found:
        if not any(facts.is_within(operand, zone) for zone in zones):
            yield AtNode(facts.parents[operand], partial(_wrap, facts, operand))  # once the operand is converted


def _wrap(facts: Facts, operand: ast.expr, texts: Texts) -> Iterator[Edit]:
    yield ReplaceNode(operand, f"{texts.name('compat.plain_operand')}({texts.of(operand)})")
    yield facts.record(operand, "number of numpy's", facts.source.text(operand), texts.of(operand))


def _arithmetic(facts: Facts) -> Iterator[ast.expr]:
    """The left sides, and arrays on the right; there, MindSpore takes numpy's numbers as they are."""
    for node in facts.source.of(ast.BinOp):
        left, right = facts.reading.type(node.left), facts.reading.type(node.right)
        if _is_numpy(facts, node.left) and right.is_tensor:
            yield node.left
        elif left.is_tensor and right.kind == "ndarray" and _is_array(facts, node.right):
            yield node.right
    for each in facts.source.of(ast.AugAssign):
        if facts.reading.type(each.target).is_tensor and _is_array(facts, each.value):
            yield each.value


def _comparisons(facts: Facts) -> Iterator[ast.expr]:
    for node in facts.source.of(ast.Compare):
        if len(node.ops) != 1:
            continue
        sides = (node.left, node.comparators[0])
        for one, other in (sides, sides[::-1]):
            is_equality = isinstance(node.ops[0], ast.Eq | ast.NotEq)
            if _is_numpy(facts, one) and facts.reading.type(other).is_tensor and (is_equality or one is node.left):
                yield one


def _is_array(facts: Facts, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether it is made as an array; np.sqrt(2) is a number, which the reading doesn't tell from one."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in MAKERS
        case ast.BinOp(left=left, right=right):
            return _is_array(facts, left, seen) or _is_array(facts, right, seen)
        case ast.Name(id=name) if name not in seen:
            values = [each for each in assigned_values(facts.reading, node) if not _mentions(each, name)]
            if not values:  # an argument, or one of several that are assigned at once
                return facts.reading.type(node).kind == "ndarray"
            return all(not isinstance(each, ast.Name) and _is_array(facts, each, seen | {name}) for each in values)
        case ast.Attribute():
            return facts.reading.type(node).kind == "ndarray"
    return False


def _mentions(value: ast.expr, name: str) -> bool:
    """`bins = bins - 1`: it stays what it was."""
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))


def _is_numpy(facts: Facts, node: ast.expr) -> bool:
    kind = facts.reading.type(node)
    return kind.kind == "ndarray" or (kind.kind == "foreign" and kind.qual == "numpy.generic")
