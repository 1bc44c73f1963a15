"""`transitions[tags[i + 1], tags[i]]`: MindSpore's gradient of an index of nothing but single places fails where one is a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertBefore, ReplaceSpan, Texts


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 1:
            parts = node.slice.elts
            is_by_tensor = any(facts.reading.type(part).is_tensor for part in parts)
            is_of_tensor = is_by_tensor and facts.reading.type(node.value).is_tensor
            if is_of_tensor and all(_may_be_one_place(facts, part) for part in parts):
                yield AtNode(node, partial(_rewrite, facts, node, node.slice))


def _may_be_one_place(facts: Facts, part: ast.expr) -> bool:
    """A number, an entry of a tensor, or a name for one; what a call makes of a whole tensor has as many places as that."""
    match part:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Subscript(slice=index):
            return facts.reading.type(index).kind not in ("tensor", "list") and not _slices(index)
        case ast.Name():
            return not _is_made_whole(facts, part)
        case ast.BinOp(left=left, right=right):
            return _may_be_one_place(facts, left) and _may_be_one_place(facts, right)
        case ast.UnaryOp(operand=operand):
            return _may_be_one_place(facts, operand)
    return isinstance(part, ast.Attribute)


def _slices(index: ast.expr) -> bool:
    return any(isinstance(each, ast.Slice) for each in (index.elts if isinstance(index, ast.Tuple) else [index]))


def _is_made_whole(facts: Facts, name: ast.Name) -> bool:
    """Every assignment of the name in its function gives it what a call, a slice or a list makes: `rows = torch.arange(n)`."""
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    stores = facts.source.stored_within(name.id, scope)
    return bool(stores) and all(_makes_whole(facts.parents.get(store)) for store in stores)


def _makes_whole(statement: ast.AST | None) -> bool:
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=method), args=[])):
            return method not in ("argmax", "argmin", "max", "min", "squeeze", "long")
        case ast.Assign(value=ast.Call() | ast.List() | ast.ListComp() | ast.Compare()):
            return True
        case ast.Assign(value=ast.Subscript(slice=index)):
            return _slices(index)
    return False


def _rewrite(facts: Facts, node: ast.Subscript, index: ast.Tuple, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    yield InsertBefore(node, f"{texts.name('compat.take_place')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    yield ReplaceSpan(opening, source.start(index), ", ")
    yield ReplaceSpan(source.end(index), source.end(node), ")")
    yield facts.record(node, "index of single places", before, texts.of(node))
