"""Plain numbers that a step is handed and that differ from step to step: ms.jit compiles a function anew for each value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....read.walk import walk_again as walk
from ...refused import Refused
from .draft import Draft
from .steps import Backward

NUMBERS = ("int", "float")
COUNTING = frozenset({"range", "enumerate", "count", "trange"})
DRAWING = frozenset({"random", "rng", "item"})
OF_NUMBERS = frozenset({"min", "max", "float", "int", "abs", "round", "pow", "sum", "len"})
PARTS = (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.BoolOp, ast.Constant, ast.operator, ast.unaryop, ast.cmpop)


def check_numbers(draft: Draft, each: Backward, loop: ast.AST) -> None:
    """Refuses where every step would be compiled. A number that an outer loop sets is compiled once a round, which pays off."""
    varying = _varying(draft, loop)
    if found := next((name for name in each.inputs if name in varying), ""):
        raise Refused(
            f"`{found}` is another number at each step, and ms.jit compiles it anew for each, about a second long"
        )


def _varying(draft: Draft, loop: ast.AST) -> set[str]:
    found = set(_counted(draft, loop))
    given = [node for node in walk(loop) if isinstance(node, ast.Assign)]
    while True:
        more = {
            target.id
            for node in given
            for target in node.targets
            if isinstance(target, ast.Name) and target.id not in found and _is_varying(draft, node.value, found)
        }
        if not more:
            return found
        found |= more


def _counted(draft: Draft, loop: ast.AST) -> Iterator[str]:
    """`for i in range(n)`, `for i, batch in enumerate(loader)`, `step += 1`."""
    match loop:
        case ast.For(target=target, iter=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))) if (
            name in COUNTING
        ):
            first = target.elts[0] if isinstance(target, ast.Tuple) else target
            if isinstance(first, ast.Name):
                yield first.id
    for node in walk(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
                yield name
            case ast.AugAssign(target=ast.Name(id=name) as target) if draft.reading.type(target).kind in NUMBERS:
                yield name


def _is_varying(draft: Draft, value: ast.expr, known: set[str]) -> bool:
    """Whether a number is made of what differs at each step, or drawn."""
    words = {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in walk(value)}
    is_number = draft.reading.type(value).kind in NUMBERS
    return (bool(words & known) and (is_number or _is_of_numbers(value))) or (bool(words & DRAWING) and is_number)


def _is_of_numbers(value: ast.expr) -> bool:
    """Arithmetic of names and constants: `min(1.0, step / 10)`."""
    for node in walk(value):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in OF_NUMBERS:
                continue
            case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))) | ast.Attribute(value=ast.Name(id="math")):
                continue
            case ast.Name() | ast.expr_context():
                continue
        if not isinstance(node, PARTS):
            return False
    return True
