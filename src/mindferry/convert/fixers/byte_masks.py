"""`x[mask.byte()]`: whole numbers of eight bits choose by truth in the source framework; MindSpore takes no such index."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Subscript):
        kind = facts.reading.type(node.value)
        if not kind.is_tensor and kind.kind != "unknown":
            continue
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            is_held = isinstance(part, ast.Name) and _holds_bytes(facts, part)
            if is_held or (_makes_bytes(facts, part) and not _is_byte_of_tensor(facts, part)):
                yield from _by_truth(facts, part)


def _by_truth(facts: Facts, part: ast.expr) -> Iterator[Change]:
    yield InsertAfter(part, ".bool()")
    yield facts.record(part, "index by bytes", facts.source.text(part), lambda texts: texts.of(part))


def _is_byte_of_tensor(facts: Facts, node: ast.expr) -> bool:
    """The method's own rule knows where it stands."""
    match node:
        case ast.Call(func=ast.Attribute(attr="byte", value=owner)):
            return facts.reading.type(owner).is_tensor
    return False


def _makes_bytes(facts: Facts, node: ast.AST) -> bool:
    """`(x > 0).byte()`, `mask.to(torch.uint8)`, `torch.zeros(n, dtype=torch.uint8)`, `torch.ByteTensor(rows)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr == "byte" and not node.args:
        return True
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "dtype")]
    return any(facts.is_use(Use.BYTE_TYPE, each) for each in (node.func, *given))


def _holds_bytes(facts: Facts, name: ast.Name) -> bool:
    """Every assignment of the name in its function gives it such a tensor."""
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    bound = facts.source.bound_within(name.id, scope)
    owners = (facts.parents.get(store) for store in bound)
    return bool(bound) and all(isinstance(owner, ast.Assign) and _makes_bytes(facts, owner.value) for owner in owners)
