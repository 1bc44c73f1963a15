"""Functions of the project's that clear gradients: `reset_grad()` between a loss and its backward() must not clear what that brings."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .source import Source

CLEARS = "zero_grad"
OF_NETWORKS = frozenset({CLEARS, "train", "eval", "forward"})  # methods that every network has


def clearing_functions(source: Source, known: set[str]) -> set[str]:
    """Names of functions and methods of this file that clear gradients, by themselves or through others, such as those `known`."""
    if not (source.mentions(CLEARS) or source.mentions("grad") or any(source.mentions(name) for name in known)):
        return set()
    found = {CLEARS, *known}
    stored = [each for each in source.members.get("grad", ()) if isinstance(each.ctx, ast.Store)]
    more = {name for each in (*stored, *source.calls_named(*found)) for name in _functions_around(source, each)}
    while more := more - found - OF_NETWORKS:
        found |= more
        more = {name for call in source.calls_named(*more) for name in _functions_around(source, call)}
    return found - OF_NETWORKS


def _functions_around(source: Source, node: ast.AST) -> Iterator[str]:
    while (parent := source.parents.get(node)) is not None:
        if isinstance(parent, ast.FunctionDef):
            yield parent.name
        node = parent
