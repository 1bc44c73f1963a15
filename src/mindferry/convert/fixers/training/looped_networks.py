"""Networks that a lifted loss takes one after the other: `for net in nets`. Outside of the loss, the loop's variable is none of them yet."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ....read.walk import walk_again as walk
from ...facts import Facts
from . import flow
from .asked_parameters import is_network
from .draft import Draft

Way = tuple[ast.expr, ast.expr, bool]  # what is bound; to each of what, or (False) to what itself
BINDING = (ast.For, ast.comprehension, ast.Assign, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
REPEATED = {"zip", "enumerate", "range", "reversed", "list", "tuple", "sorted", "len", "min", "max"}
VIEWS = {"items", "values", "keys"}


def as_given(draft: Draft, network: str, statements: Sequence[ast.AST]) -> str | None:
    """As an argument: `net`, or `*nets` where the statements go through them; None if these can't be named beforehand."""
    name = network.partition(".")[0].partition("[")[0]
    clauses = _clauses(draft, name, statements)
    if clauses is None or not clauses:
        return network if clauses is not None else None
    given = []
    for clause in clauses:
        target, _, source = clause.removeprefix("for ").partition(" in ")
        is_plain = target == network and " for " not in clause and not source.startswith("[")
        given.append(f"*{source}" if is_plain else f"*({network} {clause})")
    return ", ".join(given)


def is_looped(facts: Facts, network: str, statements: Iterable[ast.AST]) -> bool:
    name = network.partition(".")[0].partition("[")[0]
    return any(_stores(facts, name, statement) for statement in statements)


def _clauses(
    draft: Draft, name: str, statements: Sequence[ast.AST], seen: frozenset[str] = frozenset()
) -> list[str] | None:
    """`for net in nets` for each place that binds the name; none if the statements bind it nowhere."""
    found = []
    for node in (node for statement in statements for node in _stores(draft, name, statement)):
        way = _way(draft, node)
        if way is None or not _can_repeat(draft, way[1]):
            return None
        target, source, is_each = way
        clause = (
            f"for {draft.source.text(target)} in {draft.texts.of(source) if is_each else f'[{draft.texts.of(source)}]'}"
        )
        for needed in sorted(flow.reads(source)):
            outer = _clauses(draft, needed, statements, seen | {name}) if needed not in seen | {name} else None
            if outer is None or len(outer) > 1:
                return None
            clause = " ".join([*outer, clause])
        found.append(clause)
    return list(dict.fromkeys(found))


def _stores(facts: Facts, name: str, statement: ast.AST) -> list[ast.Name]:
    return [node for node in facts.stores_in(statement) if node.id == name]


def _way(draft: Draft, node: ast.Name) -> Way | None:
    """How the name comes by its value, if by a loop over something or from it alone."""
    parent = draft.parents[node]
    changed = draft.as_read(parent)
    match changed if changed is not parent else draft.enclosing(node, *BINDING):
        case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
            if draft.is_within(node, target):
                return (*_narrowed(target, source, node), True)
        case ast.Assign(targets=[target], value=value) if target is node:
            return target, value, False
    return None


def _narrowed(target: ast.expr, source: ast.expr, node: ast.Name) -> tuple[ast.expr, ast.expr]:
    """Of `for i, (net, w) in enumerate(zip(nets, ws))` the part that the name comes from."""
    match target, source:
        case ast.Tuple(elts=[_, inner]), ast.Call(func=ast.Name(id="enumerate"), args=[given, *_]) if _holds(
            inner, node
        ):
            return _narrowed(inner, given, node)
        case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=given) if len(parts) == len(given):
            for part, each in zip(parts, given, strict=True):
                if _holds(part, node) and not isinstance(each, ast.Starred):
                    return _narrowed(part, each, node)
    return target, source


def _holds(target: ast.expr, node: ast.Name) -> bool:
    return any(each is node for each in walk(target))


def _can_repeat(draft: Draft, source: ast.expr) -> bool:
    """Whether it gives the same once more: it draws nothing, and uses nothing up."""
    for call in (node for node in walk(source) if isinstance(node, ast.Call)):
        match call.func:
            case ast.Name(id=name) if name in REPEATED:
                continue
            case ast.Attribute(attr=name) if name in VIEWS:
                continue
            case ast.Attribute(value=owner) if is_network(draft, owner) and not call.args:
                continue
        return False
    return not any(isinstance(node, ast.GeneratorExp | ast.NamedExpr | ast.Await) for node in walk(source))
