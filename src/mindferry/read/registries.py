"""Tables that decorators fill: after `@register("pad") def pad(rows): …`, what `TABLE[how]` and `TABLE.build(how)` may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .source import Source
from .symbols import Symbols
from .types import OneOf, Type, one_of, options_of, ref


def filling_functions(source: Source, module: str) -> Iterator[tuple[str, str]]:
    """Functions of a module that put what they are given into a table, each with the table's name."""
    functions = [each for each in source.tree.body if isinstance(each, ast.FunctionDef)]
    for assigned in source.of(ast.Assign):
        match assigned:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=table))], value=ast.Name()):
                for each in functions:
                    if each.lineno <= assigned.lineno <= (each.end_lineno or 0):
                        yield f"{module}.{each.name}", table


def note_registered(
    node: ast.FunctionDef | ast.ClassDef, qual: str, types: dict[ast.AST, Type], symbols: Symbols
) -> None:
    """What a decorator of the project's puts into a table."""
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        table = symbols.fills.get(symbols.origin(types[called].qual), "")
        if not table and isinstance(called, ast.Attribute):  # `TABLE.register("pad")`
            table = last_name(called.value) if types[called.value].kind in ("instance", "unknown") else ""
        if table:
            symbols.registered[table] = one_of(symbols.registered.get(table, ref(qual)), ref(qual))


def taken_from_table(node: ast.Subscript | ast.Call, symbols: Symbols) -> Type | None:
    """`TABLE[how]`, `TABLE.get(how)`."""
    table = node.value if isinstance(node, ast.Subscript) else getattr(node.func, "value", None)
    held = symbols.registered.get(last_name(table)) if table is not None else None
    return held if isinstance(held, OneOf) and options_of(held) else None


def last_name(node: ast.AST) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))
