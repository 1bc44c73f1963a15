"""Probes in a syntax tree: one before each statement that says it ran, one around each site that says what stood there."""

from __future__ import annotations

import ast
from typing import Any, cast

from .types_seen import describe, is_container

LOOKS = 16  # at what a container holds, for each site
KINDS = 8  # different types kept for a site

Span = tuple[int, int, int, int]


class Notes:
    """What one file's probes have noted."""

    def __init__(self, suffix: str) -> None:
        self.hits = bytearray()
        self.lines: list[int] = []  # of each hit
        self.spans: list[Span] = []  # of each site
        self.kinds: list[list[Any]] = []
        self.last: list[Any] = []
        self.looks: list[int] = []
        self.hit_name, self.note_name = f"__mindferry_hits{suffix}", f"__mindferry_note{suffix}"

    @property
    def names(self) -> dict[str, Any]:
        return {self.hit_name: self.hits, self.note_name: self.note}

    def note(self, index: int, value: Any) -> Any:
        kind = type(value)
        if kind is self.last[index]:
            return value
        self.looks[index] += 1
        if not is_container(value) or self.looks[index] >= LOOKS:
            self.last[index] = kind
        seen, kinds = describe(value), self.kinds[index]
        if seen not in kinds and len(kinds) < KINDS:
            kinds.append(seen)
        return value

    def reached(self) -> list[int]:
        return sorted({line for line, hit in zip(self.lines, self.hits, strict=True) if hit})

    def seen(self) -> list[list[Any]]:
        return [[*span, kinds] for span, kinds in zip(self.spans, self.kinds, strict=True) if kinds]


def instrument(tree: ast.Module, wanted: set[Span], suffix: str, is_main: bool) -> Notes:
    notes = Notes(suffix)
    _Prober(notes, wanted).visit(tree)
    notes.hits.extend(bytes(len(notes.lines)))
    if is_main:  # what these are in a script that Python runs by itself
        tree.body[_prologue(tree.body) : _prologue(tree.body)] = ast.parse("__spec__ = __package__ = None").body
    ast.fix_missing_locations(tree)
    return notes


class _Prober(ast.NodeTransformer):
    def __init__(self, notes: Notes, wanted: set[Span]) -> None:
        self.notes, self.wanted = notes, wanted
        self.parts: dict[int, Span] = {}  # of the f-string that is being visited

    def generic_visit(self, node: ast.AST) -> ast.AST:
        node = super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                setattr(node, name, self._probed(block))
        if isinstance(node, ast.expr) and self.wanted:
            return self._noted(node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """Positions inside of it are not to be trusted before Python 3.12: its parts are known by their number."""
        outer, first = self.parts, not self.parts
        if first:
            self.parts = {id(part): (*_start(node), -1, index) for index, part in enumerate(ast.walk(node))}
        result = super().generic_visit(node)
        self.parts = outer
        return result

    def _probed(self, block: list[ast.stmt]) -> list[ast.stmt]:
        start = _prologue(block)
        result = block[:start]
        for statement in block[start:]:
            result += [self._hit(statement), statement]
        return result

    def _hit(self, statement: ast.stmt) -> ast.stmt:
        decorators = getattr(statement, "decorator_list", [])
        self.notes.lines.append(min([statement.lineno, *(each.lineno for each in decorators)]))
        index = len(self.notes.lines) - 1
        target = ast.Subscript(ast.Name(self.notes.hit_name, ast.Load()), ast.Constant(index), ast.Store())
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([target], ast.Constant(1)), statement))

    def _noted(self, node: ast.expr) -> ast.expr:
        span = self.parts.get(id(node)) or (*_start(node), cast(int, node.end_lineno), cast(int, node.end_col_offset))
        if span not in self.wanted or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return node
        for row, empty in ((self.notes.spans, span), (self.notes.kinds, []), (self.notes.last, None)):
            cast(list[Any], row).append(empty)
        self.notes.looks.append(0)
        arguments: list[ast.expr] = [ast.Constant(len(self.notes.spans) - 1), node]
        call = ast.Call(ast.Name(self.notes.note_name, ast.Load()), arguments, [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _start(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _prologue(block: list[ast.stmt]) -> int:
    """How many statements must stay first: the docstring, and imports from __future__."""
    count = 0
    first = block[0] if block else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        count = 1
    while count < len(block):
        statement = block[count]
        if not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        count += 1
    return count
