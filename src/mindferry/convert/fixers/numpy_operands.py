"""`np.sqrt(2) * x`, `labels == np.int64(1)`: numpy takes an operation over from MindSpore's tensors, and the gradient is lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore
from .data_arrays import data_zones


def plan(facts: Facts) -> Iterator[Change]:
    found = [*_arithmetic(facts), *_comparisons(facts)]
    zones = [part for zone in facts.derived(data_zones) for part in zone] if found else []
    for operand in found:
        if not any(facts.is_within(operand, zone) for zone in zones):
            yield InsertBefore(operand, lambda texts: f"{texts.name('compat.plain_operand')}(")
            yield InsertAfter(operand, ")")
            yield facts.record(operand, "number of numpy's", facts.source.text(operand), lambda texts: "plain_operand")


def _arithmetic(facts: Facts) -> Iterator[ast.expr]:
    """The left sides; on the right, MindSpore takes numpy's numbers as they are."""
    for node in facts.source.of(ast.BinOp):
        if _is_numpy(facts, node.left) and facts.reading.type(node.right).is_tensor:
            yield node.left


def _comparisons(facts: Facts) -> Iterator[ast.expr]:
    for node in facts.source.of(ast.Compare):
        if len(node.ops) != 1:
            continue
        sides = (node.left, node.comparators[0])
        for one, other in (sides, sides[::-1]):
            is_equality = isinstance(node.ops[0], ast.Eq | ast.NotEq)
            if _is_numpy(facts, one) and facts.reading.type(other).is_tensor and (is_equality or one is node.left):
                yield one


def _is_numpy(facts: Facts, node: ast.expr) -> bool:
    kind = facts.reading.type(node)
    return kind.kind == "ndarray" or (kind.kind == "foreign" and kind.qual == "numpy.generic")
