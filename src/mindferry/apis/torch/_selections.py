"""Tensors that may hold nothing: MindSpore's sum of no elements is whatever was in memory, on CPU, without a word."""

from __future__ import annotations

import ast

from ...read.infer import Reading
from ...read.selections import assigned_values, function_around, is_selected
from .._call import Call
from ..quirks import applies

EMPTY_SUMS = "the sum of no elements is garbage on CPU; what a mask selects is summed by a helper that minds it"
MAKERS = frozenset({"empty", "zeros", "ones"})
TYPES = ("tensor", "Tensor")  # how the names of others end


def makes_empty_tensors(call: Call) -> bool:
    """Whether the file makes tensors without elements: torch's `cat` passes over them, MindSpore's refuses them."""
    return call.reading.once(_holds_empty)


def _holds_empty(reading: Reading) -> bool:
    source = reading.source
    makers = [name for name in {**source.named, **source.members} if name in MAKERS or name.endswith(TYPES)]
    return any(map(_makes_empty, source.calls_named(*makers, "defaultdict")))


def _makes_empty(node: ast.Call) -> bool:
    """torch.tensor([]), torch.empty(0), torch.zeros((0, 4)), torch.FloatTensor(), defaultdict(torch.Tensor): what a loop then appends to."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    match node.args:
        case []:
            return name.endswith(TYPES) and not node.keywords
        case [ast.List(elts=[]) | ast.Tuple(elts=[]), *_]:
            return name.endswith(TYPES)
        case [ast.Name(id=maker) | ast.Attribute(attr=maker)] if name == "defaultdict":
            return maker.endswith(TYPES)
        case [ast.Constant(value=0), *_] | [
            ast.List(elts=[ast.Constant(value=0), *_]) | ast.Tuple(elts=[ast.Constant(value=0), *_]),
            *_,
        ]:
            return name in MAKERS
    return False


def joins_open_slices(reading: Reading, node: ast.expr | None) -> bool:
    """`cat((x[..., :start], y, x[..., end:]))`: a part may be empty, and MindSpore has no gradient of an empty slice."""
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    named = reading.once(_names_of_open_slices)
    return any(
        (each.id, function_around(reading, each)) in named if isinstance(each, ast.Name) else _is_open_slice(each)
        for each in parts
    )


def _names_of_open_slices(reading: Reading) -> set[tuple[str, ast.AST | None]]:
    """Names, and the functions that they are of."""
    return {
        (target.id, function_around(reading, each))
        for each in reading.source.of(ast.Assign)
        if _is_open_slice(each.value)
        for target in each.targets
        if isinstance(target, ast.Name)
    }


def _is_open_slice(node: ast.AST) -> bool:
    """Whether it is a slice up to a number, or from one, that another part of the program chooses."""
    return isinstance(node, ast.Subscript) and any(
        isinstance(part, ast.Slice)
        and any(isinstance(end, ast.Name | ast.Attribute) for end in (part.lower, part.upper))
        for part in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
    )


def may_be_empty(call: Call, *names: str) -> bool:
    """Whether one of the arguments is what a mask selects, or computed from that in the same function."""
    if not applies("sum of nothing", call.rule.target):
        return False
    return any(is_selected(call.reading, call.given[name]) for name in names if name in call.given)


def is_loss_of_selections(call: Call) -> bool:
    """Whether the project gives losses that it holds in variables what a mask selects: which of them, only the run tells."""
    return applies("sum of nothing", call.rule.target) and call.reading.symbols.selections.by_losses


def may_hold_nothing(call: Call, *nodes: ast.expr) -> bool:
    """Whether MindSpore's own function may be given a tensor without elements here."""
    return applies("product over nothing", call.rule.target) and are_unseen(call.reading, *nodes)


def are_unseen(reading: Reading, *nodes: ast.expr) -> bool:
    """Whether one of the tensors is what a mask selects, or all are arguments of a plain function, as they came.

    A network's shapes are its own; what a function is given may be the boxes of a picture without any.
    """
    if any(is_selected(reading, node) for node in nodes):
        return True
    return bool(nodes) and all(isinstance(node, ast.Name) and _is_plain_argument(reading, node) for node in nodes)


def stands_in_plain_function(call: Call) -> bool:
    """Whether the call stands in a function outside of classes, which may be given tensors without elements."""
    scope = function_around(call.reading, call.node)
    return isinstance(scope, ast.FunctionDef) and isinstance(call.reading.source.parents.get(scope), ast.Module)


def _is_plain_argument(reading: Reading, name: ast.Name) -> bool:
    """An argument of a function outside of classes that the function doesn't bind again."""
    scope = function_around(reading, name)
    if not isinstance(scope, ast.FunctionDef) or not isinstance(reading.source.parents.get(scope), ast.Module):
        return False
    arguments = scope.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return name.id in given and next(assigned_values(reading, name), None) is None
