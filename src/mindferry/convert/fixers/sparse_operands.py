"""`torch.eye(n) + adjacency`: MindSpore's tensors refuse a sparse operand on their right; what torch makes of it is dense."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore

DENSE = (ast.Add, ast.Sub, ast.MatMult)  # with a dense left side, torch's result is dense
BOUND = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)  # what a method's dot may follow without parentheses


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.BinOp):
        left = facts.reading.type(node.left)
        if isinstance(node.op, DENSE) and left.is_tensor and _is_sparse(facts, node.right):
            if not isinstance(node.right, BOUND):
                yield InsertBefore(node.right, "(")
                yield InsertAfter(node.right, ")")
            yield InsertAfter(node.right, ".to_dense()")
            text = facts.source.text(node.right)
            yield facts.record(node.right, "sparse operand", text, lambda texts: "to_dense()")


def _is_sparse(facts: Facts, node: ast.expr) -> bool:
    kind = facts.reading.type(node)
    return bool(kind.qual) and kind.kind != "ref" and facts.uses.has(Use.SPARSE, kind.qual)
