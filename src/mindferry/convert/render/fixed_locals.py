"""Local variables of a helper that are set once, to a constant or to another name, and those that nothing reads any more."""

from __future__ import annotations

import ast
import functools
import itertools
from collections import Counter

from ...read.walk import walk
from .fold_constants import NOTHING, WITH_BLOCKS, Offsets, Span, blocks_of, constant, in_strings, parsed

PURE_MODULES = {"ops", "math", "np", "ms"}
WRITING = ("assign", "Apply", "Adam", "print", "set_", "random", "seed")


@functools.lru_cache(maxsize=4096)
def with_fixed_locals(text: str) -> str:
    """One variable at a time, until none is left."""
    while True:
        new = _once(text)
        if new == text:
            return text
        text = new


class _Function:
    """A function of a helper with what is asked of it for each of its variables, walked once."""

    def __init__(self, node: ast.FunctionDef) -> None:
        self.node, self.nodes = node, walk(node)
        self.names = [each for each in self.nodes if type(each) is ast.Name]
        self.bound = Counter(each.id for each in self.names if type(each.ctx) is not ast.Load)
        self.blocks = [block for each in self.nodes if type(each) in WITH_BLOCKS for block in blocks_of(each)]
        inner = [each for each in self.nodes if isinstance(each, ast.FunctionDef | ast.Lambda | ast.ClassDef)]
        self.is_single = len(inner) == 1
        self.arguments = {part.arg for each in inner for part in walk(each) if type(part) is ast.arg}
        self.outer = {name for each in self.nodes if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}

    def is_plain(self, name: str) -> bool:
        """Bound once in the function, and in no function within it."""
        return self.is_single and self.bound[name] == 1 and name not in self.arguments and name not in self.outer

    def is_argument(self, name: str) -> bool:
        """An argument that keeps its value."""
        given = self.node.args
        return not self.bound[name] and any(each.arg == name for each in (*given.args, *given.kwonlyargs))


def _once(text: str) -> str:
    tree = parsed(text)
    shown, offsets = in_strings(tree), Offsets(text)
    for function in (_Function(node) for node in walk(tree) if type(node) is ast.FunctionDef):
        if returned := _returned_at_once(function, offsets):
            return offsets.edited(returned)
        for statement in (node for node in function.nodes if type(node) is ast.Assign):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=value)) if name == value:
                    if gone := _without(statement, function, offsets):
                        return offsets.edited(gone)
                case ast.Assign(targets=[ast.Name(id=name)]) if function.is_plain(name):
                    spans = _spans(name, statement, function, shown, offsets)
                    if spans is not None:
                        return offsets.edited(spans)
    return text


def _returned_at_once(function: _Function, offsets: Offsets) -> list[Span]:
    """`x = f(y)`, `return x`: the value itself."""
    for block in function.blocks:
        for first, second in itertools.pairwise(block):
            match first, second:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value),
                    ast.Return(value=ast.Name(id=returned)),
                ) if name == returned and function.is_plain(name):
                    lines = offsets.data[offsets.line(first.lineno) : offsets.line((second.end_lineno or 0) + 1)]
                    if b"#" not in lines and value.lineno == value.end_lineno == first.lineno:
                        start, end = offsets.line(first.lineno), offsets.line((second.end_lineno or 0) + 1)
                        return [(start, end, f"{' ' * first.col_offset}return {offsets.of(value)}\n")]
    return []


def _spans(
    name: str, statement: ast.Assign, function: _Function, shown: set[ast.AST], offsets: Offsets
) -> list[Span] | None:
    reads = [node for node in function.names if node.id == name and type(node.ctx) is ast.Load]
    if not (removed := _without(statement, function, offsets)):
        return None
    if not reads:
        return removed if _is_pure(statement.value) else None
    block = next(each for each in function.blocks if statement in each)
    within = {node for each in block for node in walk(each)}
    if any(node in shown or node not in within for node in reads):
        return None
    value = statement.value
    is_name = isinstance(value, ast.Name) and function.is_argument(value.id)
    if constant(value) is NOTHING and not is_name:
        return None
    return [*removed, *((offsets.start(node), offsets.end(node), offsets.of(value)) for node in reads)]


def _without(statement: ast.Assign, function: _Function, offsets: Offsets) -> list[Span]:
    """The statement's lines, unless a comment or a block needs them."""
    first, last = offsets.line(statement.lineno), offsets.line((statement.end_lineno or 0) + 1)
    is_alone = any(block == [statement] for block in function.blocks)
    return [] if is_alone or b"#" in offsets.data[first:last] else [(first, last, "")]


def _is_pure(value: ast.expr) -> bool:
    """Computes something and changes nothing."""
    for node in walk(value):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=called)) if module in PURE_MODULES:
                if called.startswith(WRITING):
                    return False
            case (
                ast.Call(func=ast.Attribute(attr="astype" | "reshape"))
                | ast.Call(func=ast.Name(id="bool" | "int" | "float"))
            ):
                continue
            case ast.Call() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
    return True
