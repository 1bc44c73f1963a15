"""`self.num_batches_tracked.add_(1)`: a norm of the project's own that counts its batches, as MindSpore's don't, gets a counter."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, InsertBefore, Texts

COUNTER = "num_batches_tracked"
STATISTICS = "running_mean"


def plan(facts: Facts) -> Iterator[Change]:
    counters = [each for each in facts.source.members.get(COUNTER, ()) if is_own_count(facts, each)]
    for node in facts.source.of(ast.ClassDef) if counters else ():
        if any(facts.is_within(each, node) for each in counters):
            indent = f"{facts.source.newline()}{facts.source.indent(node)}"
            yield InsertBefore(node, lambda texts, indent=indent: _decorator(texts) + indent)  # type: ignore[misc]
            before = f"class {node.name}"
            yield facts.record(
                node,
                facts.framework.network,
                before,
                lambda texts, before=before: f"{_decorator(texts)} {before}",  # type: ignore[misc]
            )


def is_own_count(facts: Facts, node: ast.Attribute) -> bool:
    """Whether it is the counter of a class that derives from a norm with statistics, and counts in a method of its own."""
    if node.attr != COUNTER or not _is_self(node.value):
        return False
    owner = facts.enclosing(node, ast.ClassDef)
    if not isinstance(owner, ast.ClassDef):
        return False
    qual = facts.reading.owners.get(owner, "")
    entry = facts.rules.get(facts.reading.symbols.torch_base(qual)) if qual else None
    inner = list(ast.walk(owner))
    counts = any(map(_counts, inner)) and not any(map(_is_base_forward, inner))  # torch's own forward counts too
    return counts and entry is not None and STATISTICS in entry.params


def _counts(node: ast.AST) -> bool:
    """`self.num_batches_tracked += 1`, `.add_(1)`, `= self.num_batches_tracked + 1`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name, value=owner), attr="add_")):
            return name == COUNTER and _is_self(owner)
        case ast.AugAssign(target=ast.Attribute(attr=name, value=owner)):
            return name == COUNTER and _is_self(owner)
        case ast.Assign(targets=[ast.Attribute(attr=name, value=owner)], value=ast.BinOp()):
            return name == COUNTER and _is_self(owner)
    return False


def _is_base_forward(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "forward" and not _is_self(node.value)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _decorator(texts: Texts) -> str:
    return f"@{texts.name('compat.counts_batches')}"
