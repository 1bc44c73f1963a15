"""`x[torch.where(mask)[0]]`: where a search finds nothing, MindSpore's gradient of it fails on a CPU, and so does `x[found] = y`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertAfter, InsertBefore, ReplaceSpan, Texts

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)
Searched = dict[tuple[str, ast.AST | None], int]  # name and function -> where the first such assignment ends


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.derived(by_searched_places):
        parent = facts.parents.get(node)
        if isinstance(node.ctx, ast.Load):
            yield AtNode(node, partial(_take, facts, node))
        elif isinstance(parent, ast.Assign) and parent.targets == [node] and isinstance(node.value, ast.Name):
            yield AtNode(parent, partial(_put, facts, parent, node, node.value.id))


def by_searched_places(facts: Facts) -> list[ast.Subscript]:
    """`x[found]`, where found are places that were searched for: by name, or in the index itself."""
    if not any(word in facts.source.data for word in (b"where", b"nonzero")):
        return []
    subscripts = [node for node in facts.source.of(ast.Subscript) if _may_be_places(facts, node.slice)]
    searched = _searched(facts) if any(isinstance(node.slice, ast.Name) for node in subscripts) else {}
    return [
        node
        for node in subscripts
        if _is_searched(facts, searched, node.slice)
        or any(_is_search(facts, each) for each in facts.source.walk(node.slice))
    ]


def _may_be_places(facts: Facts, index: ast.expr) -> bool:
    is_whole = not isinstance(index, ast.Constant | ast.Slice | ast.Tuple | ast.Compare)
    return is_whole and facts.reading.type(index).kind in ("tensor", "unknown")


def _searched(facts: Facts) -> Searched:
    """The names of places that were searched for, and of what is computed from such places."""
    found: Searched = {}
    for statement in sorted(facts.source.of(ast.Assign), key=facts.source.start):
        if any(
            _is_search(facts, node) or _is_searched(facts, found, node) for node in facts.source.walk(statement.value)
        ):
            scope = facts.enclosing(statement, *SCOPES)
            for each in (part for target in statement.targets for part in _parts(target)):
                if isinstance(each, ast.Name):
                    found.setdefault((each.id, scope), facts.source.end(statement))
    return found


def _is_search(facts: Facts, node: ast.AST) -> bool:
    if type(node) is not ast.Call or len(node.args) + len(node.keywords) > 2:
        return False
    method = node.func
    if isinstance(method, ast.Attribute) and facts.reading.type(method.value).kind == "unknown":
        return facts.framework.uses.has(Use.SEARCH, facts.framework.of_tensor(method.attr))  # the helper asks
    return facts.is_use(Use.SEARCH, method)


def _is_searched(facts: Facts, searched: Searched, use: ast.AST) -> bool:
    """Whether such a statement gives the name a value, in the same function and above."""
    if type(use) is not ast.Name or not searched:
        return False
    first = searched.get((use.id, facts.enclosing(use, *SCOPES)))
    return first is not None and first <= facts.source.start(use)


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _take(facts: Facts, node: ast.Subscript, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    yield InsertBefore(node, f"{texts.name('compat.take_found')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    yield ReplaceSpan(opening, source.start(node.slice), ", ")
    yield ReplaceSpan(source.end(node.slice), source.end(node), ")")
    yield facts.record(node, "searched places", before, texts.of(node))


def _put(facts: Facts, node: ast.Assign, target: ast.Subscript, name: str, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    opening = f"{name} = {texts.name('compat.put_found')}({name}, {texts.of(target.slice)}, "
    yield ReplaceSpan(source.start(node), source.value_start(node), opening)
    yield InsertAfter(node, ")")
    yield facts.record(node, "searched places", before, texts.of(node))
