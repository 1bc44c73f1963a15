"""A network that takes part in a loss only sometimes: torch leaves its parameters alone where it doesn't, zero gradients don't."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .... import findings
from ...context import Context
from . import flow, sources


def warn(context: Context, lifted: list[ast.stmt]) -> None:
    """Weight decay, momentum and Adam's averages move a parameter whose gradient is zero, but not one without a gradient."""
    branches = [node for statement in lifted for node in ast.walk(statement) if isinstance(node, ast.If | ast.IfExp)]
    hidden = {part for node in branches for side in _sides(node) for each in side for part in ast.walk(each)}
    always = _networks(context, (node for statement in lifted for node in ast.walk(statement) if node not in hidden))
    for node in branches:
        body, orelse = (_networks(context, (part for each in side for part in ast.walk(each))) for side in _sides(node))
        for name in sorted((body ^ orelse) - always):
            context.find(
                node,
                findings.MF206,
                f"{name} takes part in the loss only sometimes: where it doesn't, its gradients are zeros here, None in torch",
                f"give {name} an optimizer of its own and step it only where it ran; without weight decay and momentum nothing differs",
            )


def _sides(node: ast.If | ast.IfExp) -> tuple[list[ast.AST], list[ast.AST]]:
    if isinstance(node, ast.IfExp):
        return [node.body], [node.orelse]
    return list(node.body), list(node.orelse)


def _networks(context: Context, nodes: Iterable[ast.AST]) -> set[str]:
    """Networks that are called by a name of their own."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Call) and flow.key(node.func) and sources.calls_network(context, node):
            kind = context.reading.type(node.func)
            if kind.kind == "instance" and context.reading.symbols.is_module(kind.qual):
                found.add(context.source.text(node.func))
    return found
