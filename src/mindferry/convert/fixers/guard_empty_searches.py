"""`x[torch.where(mask)[0]]`: where a search finds nothing, MindSpore's gradient of it fails on a CPU, and so does `x[found] = y`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertAfter, InsertBefore, ReplaceSpan, Texts

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)


def plan(facts: Facts) -> Iterator[Change]:
    subscripts = [node for node in facts.source.of(ast.Subscript) if isinstance(node.slice, ast.Name)]
    is_likely = subscripts and any(word in facts.source.data for word in (b"where", b"nonzero"))
    searched = _searched(facts) if is_likely else []
    for node in subscripts if searched else []:
        if (
            not any(_reaches(facts, statement, node.slice) for statement in searched)
            or not facts.reading.type(node.slice).is_tensor
        ):
            continue
        parent = facts.parents.get(node)
        if isinstance(node.ctx, ast.Load):
            yield AtNode(node, partial(_take, facts, node))
        elif isinstance(parent, ast.Assign) and parent.targets == [node] and isinstance(node.value, ast.Name):
            yield AtNode(parent, partial(_put, facts, parent, node, node.value.id))


def _searched(facts: Facts) -> list[ast.Assign]:
    """The assignments of places that were searched for, and of what is computed from such places."""
    found: list[ast.Assign] = []
    for statement in sorted(facts.source.of(ast.Assign), key=facts.source.start):
        for node in ast.walk(statement.value):
            is_search = (
                isinstance(node, ast.Call)
                and facts.is_use(Use.SEARCH, node.func)
                and len(node.args) + len(node.keywords) < 3
            )
            if is_search or (isinstance(node, ast.Name) and any(_reaches(facts, each, node) for each in found)):
                found.append(statement)
                break
    return found


def _reaches(facts: Facts, statement: ast.Assign, use: ast.AST) -> bool:
    """Whether the statement gives the name a value, in the same function and above."""
    return (
        isinstance(use, ast.Name)
        and facts.source.end(statement) <= facts.source.start(use)
        and any(
            isinstance(each, ast.Name) and each.id == use.id for target in statement.targets for each in _parts(target)
        )
        and facts.enclosing(statement, *SCOPES) is facts.enclosing(use, *SCOPES)
    )


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _take(facts: Facts, node: ast.Subscript, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    yield InsertBefore(source.start(node), f"{texts.name('compat.take_found')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    yield ReplaceSpan(opening, source.start(node.slice), ", ")
    yield ReplaceSpan(source.end(node.slice), source.end(node), ")")
    yield facts.record(node, "searched places", before, texts.of(node))


def _put(facts: Facts, node: ast.Assign, target: ast.Subscript, name: str, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    opening = f"{name} = {texts.name('compat.put_found')}({name}, {texts.of(target.slice)}, "
    yield ReplaceSpan(source.start(node), source.start(node.value), opening)
    yield InsertAfter(source.end(node.value), ")")
    yield facts.record(node, "searched places", before, texts.of(node))
