"""Tensors that may hold nothing: MindSpore's sum of no elements is whatever was in memory, on CPU, without a word."""

from __future__ import annotations

import ast
import re

from .._call import Call

EMPTY_SUMS = "the sum of no elements is garbage on CPU; what a mask selects is summed by a helper that minds it"
SELECTIONS = frozenset({"masked_select", "nonzero", "unique", "argwhere"})
# torch.tensor([]), torch.empty(0), torch.zeros((0, 4)), torch.FloatTensor(): what a loop then appends to.
_MADE_EMPTY = re.compile(rb"[tT]ensor\(\s*(?:\)|\[\s*\]|\(\s*\))|\b(?:empty|zeros|ones)\(\s*[\[(]?\s*0\s*[,\])]")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def makes_empty_tensors(call: Call) -> bool:
    """Whether the file makes tensors without elements: torch's `cat` passes over them, MindSpore's refuses them."""
    return call.reading.source.holds(_MADE_EMPTY)


def may_be_empty(call: Call, *names: str) -> bool:
    """Whether one of the arguments is what a mask selects, or computed from that in the same function."""
    return any(_is_selected(call.given[name], call, frozenset()) for name in names if name in call.given)


def _is_selected(node: ast.expr, call: Call, known: frozenset[str]) -> bool:
    for part in ast.walk(node):
        match part:
            case ast.Subscript(value=owner, slice=index) if (
                call.reading.type(index).is_tensor and call.reading.type(owner).is_tensor
            ):
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name in SELECTIONS:
                return True
            case ast.Name(id=name) if name not in known and call.reading.type(part).is_tensor:
                if any(_is_selected(value, call, known | {name}) for value in _assigned(name, call)):
                    return True
    return False


def _assigned(name: str, call: Call) -> list[ast.expr]:
    """What the function around gives the name."""
    scope: ast.AST | None = call.node
    while scope is not None and not isinstance(scope, FUNCTIONS):
        scope = call.reading.source.parents.get(scope)
    found = []
    for node in ast.walk(scope or call.reading.source.tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in node.targets
        ):
            found.append(node.value)
    return found
