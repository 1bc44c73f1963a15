"""A variable that is passed to the lifted function must exist there: where only some ways set it, it starts as None."""

from __future__ import annotations

import ast

from ....read.walk import walk_again as walk
from ...facts import Facts
from . import flow
from .steps import Backward


def place_for(facts: Facts, each: Backward, name: str) -> ast.stmt | None:
    """The statement before which `name = None` has to stand; None if the variable is surely set by then."""
    assert each.anchor is not None
    around = _around(facts, each)
    if _belongs_outside(facts, each.scope, name) or any(_is_set(facts, each, part, name) for part in around):
        return None
    start, lifted = facts.source.start, set(each.lifted)
    makers = facts.derived(_Makers).of(each.scope, name)
    first = next((maker for maker in makers if maker not in lifted), None)
    if first is None or start(first) >= start(each.anchor):
        return each.anchor
    outermost: ast.AST = first
    while facts.parents[outermost] not in around:
        outermost = facts.parents[outermost]
    return outermost if isinstance(outermost, ast.stmt) else each.anchor


def _around(facts: Facts, each: Backward) -> list[ast.AST]:
    """The call's place, the blocks that it stands in, and the scope."""
    found: list[ast.AST] = [each.place]
    while found[-1] is not each.scope:
        found.append(facts.parents[found[-1]])
    return found


def _is_set(facts: Facts, each: Backward, part: ast.AST, name: str) -> bool:
    """Whether the name is surely set where the code comes to a statement around the call, by its block or by its own header."""
    if part is each.scope or not isinstance(part, ast.stmt):
        return False
    headers: list[ast.AST] = []
    if part is not each.place and isinstance(part, ast.For | ast.With):
        headers = [part.target] if isinstance(part, ast.For) else list(part.items)
    if any(name in flow.writes(header) for header in headers):
        return True
    block, place = facts.block_of(part), facts.place_of(part)
    for setting in facts.derived(_SureWrites).of(block).get(name, ()):
        if setting >= place:
            break
        if block[setting] not in each.lifted or block[setting] in each.retained:
            return True
    return False


class _SureWrites:
    """Which statements of a block surely set a name, by their places in it; told once a block."""

    def __init__(self, facts: Facts) -> None:
        self._found: dict[int, dict[str, list[int]]] = {}

    def of(self, block: list[ast.stmt]) -> dict[str, list[int]]:
        if id(block) not in self._found:  # the tree keeps the block
            found: dict[str, list[int]] = {}
            for place, statement in enumerate(block):
                for name in flow.surely_written([statement]):
                    found.setdefault(name, []).append(place)
            self._found[id(block)] = found
        return self._found[id(block)]


class _Makers:
    """The statements of a scope that set a name, in the order of the text; told once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._found: dict[tuple[ast.AST, str], list[ast.stmt]] = {}

    def of(self, scope: ast.AST, name: str) -> list[ast.stmt]:
        if (scope, name) not in self._found:
            facts = self._facts
            found = [
                facts.statement_of(node)
                for node in facts.source.stored_within(name, scope)
                if (facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree) is scope
            ]
            self._found[scope, name] = sorted(found, key=facts.source.start)
        return self._found[scope, name]


def _belongs_outside(facts: Facts, scope: ast.AST, name: str) -> bool:
    """An argument, or a variable of a scope around this one."""
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    is_argument = any(isinstance(node, ast.arg) and node.arg == name for node in walk(scope.args))
    return is_argument or (scope, name) in facts.derived(_declared) or not facts.derived(_Makers).of(scope, name)


def _declared(facts: Facts) -> set[tuple[ast.AST, str]]:
    """Names that a function, or one inside it, declares to be of a scope around it."""
    found: set[tuple[ast.AST, str]] = set()
    declarations: list[ast.Global | ast.Nonlocal] = [*facts.source.of(ast.Global), *facts.source.of(ast.Nonlocal)]
    for node in declarations:
        scope = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
        while scope is not None:
            found |= {(scope, name) for name in node.names}
            scope = facts.enclosing(scope, ast.FunctionDef, ast.AsyncFunctionDef)
    return found
