"""Which names a block sets for certain, and which it may read before it sets them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(slots=True)
class BlockNames:
    """`stored`: names that the block sets, in its own scope; `certain`: on every way through it."""

    stored: set[str] = field(default_factory=set)
    certain: set[str] = field(default_factory=set)
    read_first: set[str] = field(default_factory=set)  # names that may be read before the block has set them


def names_of(statements: Iterable[ast.stmt]) -> BlockNames:
    found = BlockNames()
    found.certain = _block(statements, set(), found)
    found.read_first &= found.stored
    return found


def _block(statements: Iterable[ast.stmt], known: set[str], found: BlockNames) -> set[str]:
    for statement in statements:
        known = _statement(statement, known, found)
    return known


def _statement(node: ast.stmt, known: set[str], found: BlockNames) -> set[str]:
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            known = _expressions([test], known, found)
            return _block(body, known, found) & _block(orelse, known, found)
        case (
            ast.For(target=target, iter=values, body=body, orelse=orelse)
            | ast.AsyncFor(target=target, iter=values, body=body, orelse=orelse)
        ):
            known = _expressions([values], known, found)
            _block(body, _expressions([target], known, found), found)
            return _block(orelse, known, found)
        case ast.While(test=test, body=body, orelse=orelse):
            known = _expressions([test], known, found)
            _block(body, known, found)
            return _block(orelse, known, found)
        case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
            for item in items:
                known = _expressions([item.context_expr, item.optional_vars], known, found)
            return _block(body, known, found)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            ways = [_block(orelse, _block(body, known, found), found)]
            for handler in handlers:
                found.stored |= {handler.name} if handler.name else set()
                inner = known | ({handler.name} if handler.name else set())
                ways.append(_block(handler.body, inner, found))
            return _block(final, set.intersection(*ways), found)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            found.stored.add(node.name)
            return known | {node.name}
        case ast.Import() | ast.ImportFrom():
            names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            found.stored |= names
            return known | names
        case ast.AnnAssign(target=target, value=value):
            return _expressions([value, target], known, found) if value is not None else known
        case ast.AugAssign(target=target, value=value):
            known = _expressions([value], known, found)
            if isinstance(target, ast.Name) and target.id not in known:
                found.read_first.add(target.id)
            return _expressions([target], known, found)
    if isinstance(node, ast.Match):
        return _match(node, known, found)
    parts = [node.value, *node.targets] if isinstance(node, ast.Assign) else list(ast.iter_child_nodes(node))
    return _expressions(parts, known, found)


def _match(node: ast.Match, known: set[str], found: BlockNames) -> set[str]:
    known = _expressions([node.subject], known, found)
    for case in node.cases:
        _block(case.body, known | _captured(case.pattern), found)
    return known


def _captured(pattern: ast.pattern) -> set[str]:
    return {name for each in ast.walk(pattern) if isinstance(name := getattr(each, "name", None), str)}


def _expressions(nodes: Iterable[ast.AST | None], known: set[str], found: BlockNames) -> set[str]:
    """What is read, then what is set, one expression after the other."""
    for node in nodes:
        if node is None:
            continue
        names = list(_names(node, frozenset()))
        found.read_first |= {each.id for each in names if isinstance(each.ctx, ast.Load)} - known
        stored = {each.id for each in names if isinstance(each.ctx, ast.Store)}
        found.stored |= stored
        known = known | stored
    return known


def _names(node: ast.AST, own: frozenset[str]) -> Iterator[ast.Name]:
    """Names of the block's scope: not the arguments of a lambda, nor what a comprehension goes through."""
    if isinstance(node, ast.Name):
        if node.id not in own:
            yield node
        return
    if isinstance(node, ast.Lambda):
        yield from _names(node.body, own | {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)})
        return
    if isinstance(node, Comprehension):
        own = own | {
            each.id for part in node.generators for each in ast.walk(part.target) if isinstance(each, ast.Name)
        }
    for child in ast.iter_child_nodes(node):
        yield from _names(child, own)
