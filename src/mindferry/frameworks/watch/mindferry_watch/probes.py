"""Probes in a syntax tree: one before each statement that says it ran, one around each site that says what stood there."""

from __future__ import annotations

import ast
from typing import Any, cast

from .types_seen import describe, is_container

LOOKS = 16  # at what a container holds, for each site
KINDS = 8  # different types kept for a site
GIVEN = "__mindferry_given__"  # a function's own variable: its arguments as they came
CHANGING = {
    "pop",
    "popitem",
    "update",
    "setdefault",
    "append",
    "extend",
    "insert",
    "remove",
    "clear",
    "sort",
    "reverse",
}

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
        self.given_name = f"__mindferry_as_given{suffix}"

    @property
    def names(self) -> dict[str, Any]:
        return {self.hit_name: self.hits, self.note_name: self.note, self.given_name: as_given}

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

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        changed = _changed_arguments(node)
        result = self.generic_visit(node)
        if changed:
            start = _prologue(node.body)
            node.body[start:start] = [_keep_given(changed, self.notes.given_name, node)]
        return result

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


def as_given(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments before the function changes them."""
    return {name: type(each)(each) if type(each) in (dict, list) else each for name, each in values.items()}


def _changed_arguments(function: ast.FunctionDef) -> list[str]:
    """Arguments that the function binds anew or writes into; what they were is known at its start only."""
    arguments = function.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {each.arg for each in (*listed, arguments.vararg, arguments.kwarg) if each is not None}
    found = {name for node in ast.walk(function) for name in (_changed(node),) if name in names}
    return sorted(found)


def _changed(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in CHANGING:
            return name
    return ""


def _keep_given(names: list[str], keeper: str, function: ast.FunctionDef) -> ast.stmt:
    values = ast.Dict([ast.Constant(name) for name in names], [ast.Name(name, ast.Load()) for name in names])
    call = ast.Call(ast.Name(keeper, ast.Load()), [values], [])
    kept = ast.Assign([ast.Name(GIVEN, ast.Store())], call)
    return ast.fix_missing_locations(ast.copy_location(kept, function))


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
