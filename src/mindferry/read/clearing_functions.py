"""Functions of the project's that clear gradients: `reset_grad()` between a loss and its backward() must not clear what that brings."""

from __future__ import annotations

import ast

from .source import Source
from .walk import walk_again as walk

CLEARS = "zero_grad"
OF_NETWORKS = frozenset({CLEARS, "train", "eval", "forward"})  # methods that every network has


def clearing_functions(source: Source, known: set[str]) -> set[str]:
    """Names of functions and methods of this file that clear gradients, by themselves or through others, such as those `known`."""
    if not (source.mentions(CLEARS) or source.mentions("grad") or any(source.mentions(name) for name in known)):
        return set()
    called: dict[str, set[str]] = {}
    for function in source.of(ast.FunctionDef):
        names = called.setdefault(function.name, set())
        for node in walk(function):
            if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Store):
                names.add(CLEARS)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                names.add(node.func.id if isinstance(node.func, ast.Name) else node.func.attr)
    found = {CLEARS, *known}
    while more := {name for name, calls in called.items() if calls & found} - found - OF_NETWORKS:
        found |= more
    return found - OF_NETWORKS
