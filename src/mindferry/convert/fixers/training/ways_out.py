"""Branches that leave an iteration, as a warm-up does: `if i == 0: ...; continue`. What follows comes from the other branch alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from ...facts import Facts
from . import flow
from .scope_parts import simple_parts

Segment = tuple[list[ast.stmt], int, int]  # the statements of a block from one place up to another


def segments(facts: Facts, before: Iterable[flow.Beginning]) -> Iterator[Segment]:
    """The beginnings cut at such conditions, in the order in which they run: the branch that goes on stands for the whole."""
    known = facts.derived(_Branches)
    for block, end in before:
        yield from _cut(block, end, known)


class _Branches:
    """The branches of a block of which one leaves, and the other side of each; told once a block."""

    def __init__(self, facts: Facts) -> None:
        self._found: dict[int, list[tuple[int, list[ast.stmt]]]] = {}

    def of(self, block: list[ast.stmt]) -> list[tuple[int, list[ast.stmt]]]:
        if id(block) not in self._found:  # the tree keeps the block
            self._found[id(block)] = [
                (place, stays)
                for place, statement in enumerate(block)
                if isinstance(statement, ast.If) and (stays := _branch_that_goes_on(statement)) is not None
            ]
        return self._found[id(block)]


def _cut(block: list[ast.stmt], end: int, known: _Branches) -> Iterator[Segment]:
    start = 0
    for place, stays in known.of(block):
        if place >= end:
            break
        yield block, start, place
        yield from _cut(stays, len(stays), known)
        start = place + 1
    yield block, start, end


def _branch_that_goes_on(node: ast.If) -> list[ast.stmt] | None:
    """None unless exactly one of the two leaves."""
    leaves = [_always_leaves(side) for side in (node.body, node.orelse)]
    if leaves == [True, False]:
        return node.orelse
    return node.body if leaves == [False, True] else None


def _always_leaves(block: list[ast.stmt]) -> bool:
    """By its last statement, which may stand under `with torch.no_grad():`. An error is no way on: it can be lifted with the rest."""
    match block[-1:]:
        case [ast.With(items=[ast.withitem(context_expr=ast.expr() as context)], body=inside)]:
            return "suppress" not in ast.unparse(context) and _always_leaves(inside)
        case [ast.If(body=first, orelse=second)]:
            return _always_leaves(first) and _always_leaves(second)
    return isinstance(block[-1], ast.Continue | ast.Break | ast.Return) if block else False


def between(facts: Facts, place: ast.stmt, end: ast.stmt, scope: ast.AST) -> bool:
    """Whether the code may leave between the two: by a statement of the loop or function around both, or by an error that it catches."""
    start, stop = facts.source.start(place), facts.source.start(end)
    kinds = (ast.Continue, ast.Break, ast.Return, ast.Raise)
    found = (node for kind in kinds for node in facts.source.of(kind) if start < facts.source.start(node) < stop)
    return any(_passes_by(facts, node, start, stop, scope) for node in found)


def _passes_by(facts: Facts, node: ast.stmt, start: int, stop: int, scope: ast.AST) -> bool:
    """A loop or a function that begins later is left alone, and what is behind it still runs."""
    source, functions = facts.source, (ast.FunctionDef, ast.AsyncFunctionDef)
    if (facts.enclosing(node, *functions) or source.tree) is not scope:
        return False
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Raise):
        caught = facts.enclosing(node, ast.Try, *functions)
        return isinstance(caught, ast.Try) and source.end(caught) > stop
    loop = facts.enclosing(node, ast.For, ast.While, ast.AsyncFor, *functions)
    return loop is not None and source.start(loop) <= start


def is_elif(facts: Facts, statement: ast.stmt) -> bool:
    """Lifted, it begins with `if`; and what it stood behind goes on without it."""
    return isinstance(statement, ast.If) and facts.source.data.startswith(b"elif", facts.source.start(statement))


def home(facts: Facts, statement: ast.stmt, end: ast.stmt) -> list[ast.stmt]:
    """The block that a statement before the end counts as part of: the one around the condition that it is passed through."""
    around = {id(facts.block_of(each)) for each in _with_those_around(facts, end)}
    of_it = [facts.block_of(each) for each in _with_those_around(facts, statement)]
    return next((block for block in of_it if id(block) in around), of_it[0])


def place_in(facts: Facts, statement: ast.stmt, block: list[ast.stmt]) -> int:
    """Where it, or the condition around it, stands in the block; -1 outside of it."""
    here = (each for each in _with_those_around(facts, statement) if facts.block_of(each) is block)
    return next((facts.place_of(each) for each in here), -1)


def _with_those_around(facts: Facts, statement: ast.stmt) -> Iterator[ast.stmt]:
    current: ast.AST | None = statement
    while isinstance(current, ast.stmt) and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef):
        yield current
        current = facts.parents.get(current)


class Rest:
    """What a statement reads and writes apart from those that are lifted out of it."""

    def __init__(self, lifted: Iterable[ast.stmt]) -> None:
        self._lifted = set(simple_parts(lifted))

    def holds_some(self, statement: ast.stmt) -> bool:
        return isinstance(statement, ast.If) and not self._lifted.isdisjoint(simple_parts([statement]))

    def reads(self, statement: ast.stmt) -> frozenset[str]:
        return self._all(statement, flow.reads) if self.holds_some(statement) else flow.reads(statement)

    def writes(self, statement: ast.stmt) -> frozenset[str]:
        return self._all(statement, flow.writes) if self.holds_some(statement) else flow.writes(statement)

    def _all(self, statement: ast.stmt, names: Callable[[ast.AST], frozenset[str]]) -> frozenset[str]:
        rest = (part for part in simple_parts([statement]) if part not in self._lifted)
        return frozenset().union(*(names(part) for part in rest))
