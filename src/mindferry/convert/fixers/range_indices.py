"""`x[range(n), labels]`: MindSpore takes no range as an index of a tensor; it becomes `ops.arange`, which may be empty too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore, ReplaceNode


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Subscript):
        kind = facts.reading.type(node.value)
        if not kind.is_tensor and kind.kind != "unknown":
            continue
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if _is_range(part):
                assert isinstance(part, ast.Call)
                yield from _rewrite(facts, part, part.func if kind.is_tensor else part)
            elif kind.is_tensor and isinstance(part, ast.Name) and _holds_range(facts, part):
                yield from _rewrite(facts, part, part)


def _is_range(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and bool(node.args)
    )


def _holds_range(facts: Facts, name: ast.Name) -> bool:
    """Every assignment of the name in its function gives it a range."""
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    owners = [
        facts.parents.get(store)
        for store in facts.stores(name.id)
        if isinstance(store.ctx, ast.Store) and facts.is_within(store, scope)
    ]
    return bool(owners) and all(isinstance(owner, ast.Assign) and _is_range(owner.value) for owner in owners)


def _rewrite(facts: Facts, part: ast.expr, what: ast.expr) -> Iterator[Change]:
    """The call's name where the receiver is a tensor; a list, which arrays and tensors both take, where that isn't certain."""
    before = facts.source.text(part)
    if what is part:
        yield InsertBefore(part, "list(")
        yield InsertAfter(part, ")")
    else:
        yield ReplaceNode(what, lambda texts: texts.name("mindspore.ops.arange"))
    yield facts.record(part, "index by a range", before, lambda texts: texts.of(part))
