"""Parameters that the loss of a step may not reach: torch leaves them alone, so the gradient function has to tell them apart."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ....read.walk import walk_again as walk
from ...facts import Facts
from . import flow, sources
from .steps import Backward


def may_be_unreached(facts: Facts, each: Backward) -> bool:
    """Unless every network of the project uses all of its layers, and the loss runs them as a whole and always."""
    return bool(facts.reading.symbols.unsure) or _is_conditional(facts, each) or _runs_part(facts, each)


def _is_conditional(facts: Facts, each: Backward) -> bool:
    """A network takes part in the loss under a condition."""
    branches = [node for statement in each.lifted for node in walk(statement) if isinstance(node, ast.If | ast.IfExp)]
    hidden = {part for node in branches for side in _sides(node) for each in side for part in walk(each)}
    always = _networks(facts, (node for statement in each.lifted for node in walk(statement) if node not in hidden))
    return any(_networks(facts, hidden) - always for _ in branches[:1])


def _sides(node: ast.If | ast.IfExp) -> tuple[list[ast.AST], list[ast.AST]]:
    if isinstance(node, ast.IfExp):
        return [node.body], [node.orelse]
    return list(node.body), list(node.orelse)


def _networks(facts: Facts, nodes: Iterable[ast.AST]) -> set[str]:
    """What is called and may run a network, as text."""
    return {
        facts.source.text(node.func)
        for node in nodes
        if isinstance(node, ast.Call) and sources.calls_network(facts, node)
    }


def _runs_part(facts: Facts, each: Backward) -> bool:
    """`model.encoder(x)`, `model.encode(x)`: not the whole of it."""
    called = [node.func for part in (*each.lifted, *each.losses) for node in walk(part) if isinstance(node, ast.Call)]
    parts = [
        func for func in called if isinstance(func, ast.Attribute) and func.attr != "forward" and not flow.key(func)
    ]
    for func in parts:
        kind = facts.reading.type(func.value)
        if kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual):
            return True
    return False
