"""Tensors that may hold nothing: MindSpore's sum of no elements is whatever was in memory, on CPU, without a word."""

from __future__ import annotations

import ast
import functools

from ...read.source import Source
from .._call import Call
from ..quirks import applies

EMPTY_SUMS = "the sum of no elements is garbage on CPU; what a mask selects is summed by a helper that minds it"
SELECTIONS = frozenset({"masked_select", "nonzero", "unique", "argwhere"})
MAKERS = frozenset({"empty", "zeros", "ones"})
EMPTY_MAKERS = (*sorted(MAKERS), "ensor")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def makes_empty_tensors(call: Call) -> bool:
    """Whether the file makes tensors without elements: torch's `cat` passes over them, MindSpore's refuses them."""
    return _holds_empty(call.reading.source)


@functools.lru_cache(maxsize=4)
def _holds_empty(source: Source) -> bool:
    """Looked for once a file, however many calls ask."""
    return any(source.mentions(word) for word in EMPTY_MAKERS) and any(map(_makes_empty, source.of(ast.Call)))


def _makes_empty(node: ast.Call) -> bool:
    """torch.tensor([]), torch.empty(0), torch.zeros((0, 4)), torch.FloatTensor(), defaultdict(torch.Tensor): what a loop then appends to."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    match node.args:
        case []:
            return name.endswith(("tensor", "Tensor")) and not node.keywords
        case [ast.List(elts=[]) | ast.Tuple(elts=[]), *_]:
            return name.endswith(("tensor", "Tensor"))
        case [ast.Name(id=maker) | ast.Attribute(attr=maker)] if name == "defaultdict":
            return maker.endswith(("tensor", "Tensor"))
        case [ast.Constant(value=0), *_] | [
            ast.List(elts=[ast.Constant(value=0), *_]) | ast.Tuple(elts=[ast.Constant(value=0), *_]),
            *_,
        ]:
            return name in MAKERS
    return False


def may_be_empty(call: Call, *names: str) -> bool:
    """Whether one of the arguments is what a mask selects, or computed from that in the same function."""
    if not applies("sum of nothing", call.rule.target):
        return False
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
    source, found = call.reading.source, []
    for node in source.assigned.get(name, ()):
        if scope is None or source.start(scope) <= source.start(node) < source.end(scope):
            found.append(node.value)
    return found
