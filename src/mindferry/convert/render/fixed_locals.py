"""Local variables of a helper that are set once, to a constant or to another name, and those that nothing reads any more."""

from __future__ import annotations

import ast
import functools
import itertools
from collections import Counter

from .folded import NOTHING, Offsets, Span, constant, in_strings, parsed

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


def _once(text: str) -> str:
    tree = parsed(text)
    shown, offsets = in_strings(tree), Offsets(text)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if returned := _returned_at_once(function, offsets):
            return offsets.edited(returned)
        for statement in (node for node in ast.walk(function) if isinstance(node, ast.Assign)):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)]) if _is_plain(name, function):
                    spans = _spans(name, statement, function, shown, offsets)
                    if spans is not None:
                        return offsets.edited(spans)
    return text


def _returned_at_once(function: ast.FunctionDef, offsets: Offsets) -> list[Span]:
    """`x = f(y)`, `return x`: the value itself."""
    for block in _blocks(function):
        for first, second in itertools.pairwise(block):
            match first, second:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value),
                    ast.Return(value=ast.Name(id=returned)),
                ) if name == returned and _is_plain(name, function):
                    lines = offsets.data[offsets.line(first.lineno) : offsets.line((second.end_lineno or 0) + 1)]
                    if b"#" not in lines and value.lineno == value.end_lineno == first.lineno:
                        start, end = offsets.line(first.lineno), offsets.line((second.end_lineno or 0) + 1)
                        return [(start, end, f"{' ' * first.col_offset}return {offsets.of(value)}\n")]
    return []


def _is_plain(name: str, function: ast.FunctionDef) -> bool:
    """Bound once in the function, and in no function within it."""
    bound = Counter(
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef)]
    arguments = {each.arg for node in inner for each in ast.walk(node) if isinstance(each, ast.arg)}
    is_outer = any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in ast.walk(function))
    return bound[name] == 1 and name not in arguments and len(inner) == 1 and not is_outer


def _spans(
    name: str, statement: ast.Assign, function: ast.FunctionDef, shown: set[ast.AST], offsets: Offsets
) -> list[Span] | None:
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    reads = [node for node in uses if isinstance(node.ctx, ast.Load)]
    first, last = offsets.line(statement.lineno), offsets.line((statement.end_lineno or 0) + 1)
    is_alone = any(block == [statement] for block in _blocks(function))
    if is_alone or "#" in offsets.data[first:last].decode():
        return None
    removed = (first, last, "")
    if not reads:
        return [removed] if _is_pure(statement.value) else None
    block = next(each for each in _blocks(function) if statement in each)
    within = {node for each in block for node in ast.walk(each)}
    if any(node in shown or node not in within for node in reads):
        return None
    value = statement.value
    is_name = isinstance(value, ast.Name) and _is_argument(value.id, function)
    if constant(value) is NOTHING and not is_name:
        return None
    return [removed, *((offsets.start(node), offsets.end(node), offsets.of(value)) for node in reads)]


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    return [
        block
        for node in ast.walk(function)
        for block in (getattr(node, field, None) for field in ("body", "orelse", "finalbody"))
        if isinstance(block, list) and block
    ]


def _is_argument(name: str, function: ast.FunctionDef) -> bool:
    """An argument that keeps its value."""
    stores = any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in ast.walk(function)
    )
    return not stores and any(each.arg == name for each in (*function.args.args, *function.args.kwonlyargs))


def _is_pure(value: ast.expr) -> bool:
    """Computes something and changes nothing."""
    for node in ast.walk(value):
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
