"""Names that a tape's block sets for others: for its own next round in a loop, or for functions that read them meanwhile."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts import Facts

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def is_repeated(facts: Facts, block: ast.With, scope: ast.AST) -> bool:
    """Whether the block runs more than once while its function does: what it set last time is there when it begins."""
    node = facts.parents.get(block)
    while node is not None and node is not scope:
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return True
        node = facts.parents.get(node)
    return False


def shared_names(facts: Facts, scope: ast.AST, inside: set[ast.AST], stored: set[str]) -> dict[str, str]:
    """{a name that is not the block's own: "global" or "nonlocal"}: declared so, or read by functions that the block may call."""
    found: dict[str, str] = {}
    keyword = "global" if isinstance(scope, ast.Module) else "nonlocal"
    for node in facts.source.walk(scope):
        if isinstance(node, Function) and node is not scope and node not in inside:
            found |= dict.fromkeys(_read_from_around(node) & stored, keyword)
    for node in facts.source.walk(scope):
        if isinstance(node, ast.Global | ast.Nonlocal) and _function_of(facts, node) is scope:
            word = "global" if isinstance(node, ast.Global) else "nonlocal"
            found |= dict.fromkeys(set(node.names) & stored, word)
    return found


def names_before(scope: ast.AST, block: ast.With) -> set[str]:
    """Names that may have a value before the block: arguments, and what stands above it."""
    place = block.lineno, block.col_offset
    found = {
        node.id
        for node in own_nodes(scope)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and (node.lineno, node.col_offset) < place
    }
    if isinstance(scope, Function):
        found |= {each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)}
    return found


def names_read(scope: ast.AST, inside: set[ast.AST]) -> set[str]:
    """Names of the scope that are read elsewhere than in the block: by the scope itself, or by functions in it."""
    found: set[str] = set()
    for node in own_nodes(scope):
        if node in inside:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, Function):
            found |= _read_from_around(node)
        elif isinstance(node, ast.ClassDef):
            found |= {
                each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
            }
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or module itself; of functions and classes in it, only that they are there."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Function):
            waiting += [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
            waiting += getattr(node, "decorator_list", [])
        elif not isinstance(node, ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def declarations(shared: dict[str, str]) -> list[str]:
    """`global a, b`."""
    names = {word: sorted(name for name in shared if shared[name] == word) for word in ("global", "nonlocal")}
    return [f"{word} {', '.join(each)}" for word, each in names.items() if each]


def _function_of(facts: Facts, node: ast.AST) -> ast.AST | None:
    return facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)


def _read_from_around(function: Function) -> set[str]:
    """Names that a function reads and neither sets nor is given."""
    own = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    outer = {name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    own |= {node.id for node in names if isinstance(node.ctx, ast.Store)} - outer
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - own
