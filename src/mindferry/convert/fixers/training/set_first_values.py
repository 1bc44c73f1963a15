"""A variable that is passed to the lifted function must exist there: where only some ways set it, it starts as None."""

from __future__ import annotations

import ast

from ....read.walk import walk
from ...facts import Facts
from . import flow
from .steps import Backward


def place_for(facts: Facts, each: Backward, name: str) -> ast.stmt | None:
    """The statement before which `name = None` has to stand; None if the variable is surely set by then."""
    assert each.anchor is not None
    around = _around(facts, each)
    if _belongs_outside(facts, each.scope, name) or any(name in _set_on_the_way(facts, each, part) for part in around):
        return None
    makers = [maker for maker in _makers(facts, each.scope, name) if maker not in each.lifted]
    start = facts.source.start
    earlier = [maker for maker in makers if start(maker) < start(each.anchor)]
    if not earlier:
        return each.anchor
    outermost: ast.AST = min(earlier, key=start)
    while facts.parents[outermost] not in around:
        outermost = facts.parents[outermost]
    return outermost if isinstance(outermost, ast.stmt) else each.anchor


def _around(facts: Facts, each: Backward) -> list[ast.AST]:
    """The call's place, the blocks that it stands in, and the scope."""
    found: list[ast.AST] = [each.place]
    while found[-1] is not each.scope:
        found.append(facts.parents[found[-1]])
    return found


def _set_on_the_way(facts: Facts, each: Backward, part: ast.AST) -> set[str]:
    """What is surely set where the code comes to a statement around the call, by its block and by its own header."""
    if part is each.scope or not isinstance(part, ast.stmt):
        return set()
    block = facts.block_of(part)
    before = [s for s in block[: block.index(part)] if s not in each.lifted or s in each.retained]
    found = flow.surely_written(before)
    if part is not each.place and isinstance(part, ast.For):
        found |= flow.writes(part.target)
    elif part is not each.place and isinstance(part, ast.With):
        found |= set().union(*(flow.writes(item) for item in part.items))
    return found


def _makers(facts: Facts, scope: ast.AST, name: str) -> list[ast.stmt]:
    """The statements of the scope that set the name."""
    return [
        facts.statement_of(node)
        for node in facts.source.stored_within(name, scope)
        if (facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree) is scope
    ]


def _belongs_outside(facts: Facts, scope: ast.AST, name: str) -> bool:
    """An argument, or a variable of a scope around this one."""
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    is_argument = any(isinstance(node, ast.arg) and node.arg == name for node in walk(scope.args))
    declared = any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in walk(scope))
    return is_argument or declared or not _makers(facts, scope, name)
