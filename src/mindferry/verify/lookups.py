"""What the text of a function tells: tables whose other functions did not run, errors, borders, what it writes elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

from .literals import walked

OUTSIDE = {"gt", "lt", "greater", "less"}
INSIDE = {"ge", "le", "greater_equal", "less_equal"}
CLAMPS = {"clamp", "clip", "clip_by_value", "hardtanh", "relu6"}
LIMITS = {"min", "max", "minimum", "maximum", "relu", "where", "select", "masked_fill", "amin", "amax"}


def lookups(tree: ast.Module, function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """(line, name of the table) of each call by a key that the text does not fix: `ACTIVATIONS[self.kind](x)`, `.get(kind)(x)`."""
    sizes = _tables(tree)
    for node in walked(function):
        if isinstance(node, ast.Call):
            table, key = _looked_up(node.func)
            if table is not None and sizes.get(_last_name(table), 0) > 1 and not isinstance(key, ast.Constant):
                yield node.lineno, ast.unparse(table)


def errors_of(function: ast.FunctionDef) -> Iterator[str]:
    """The kinds of errors that its text raises, those of its assertions among them; one that is handed on has no name."""
    for node in walked(function):
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _last_name(node.func) == "_assert"):
            yield "AssertionError"
        elif isinstance(node, ast.Raise) and node.exc is not None:
            name = _last_name(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
            yield from [name] if name[:1].isupper() else []


def bounds_of(function: ast.FunctionDef) -> tuple[int, int, int, int]:
    """Comparisons that leave the border out (`>`), those that take it in (`>=`), limits of values (`clamp`), and what may stand for one."""
    outside = inside = clamps = others = 0
    for node in walked(function):
        if isinstance(node, ast.Compare):
            outside += sum(isinstance(each, ast.Gt | ast.Lt) for each in node.ops)
            inside += sum(isinstance(each, ast.GtE | ast.LtE) for each in node.ops)
        elif isinstance(node, ast.Call):
            name = _last_name(node.func).rstrip("_")
            outside += name in OUTSIDE
            inside += name in INSIDE
            clamps += name in CLAMPS
            others += name in LIMITS
    return outside, inside, clamps, others


def stores_in_modules(function: ast.FunctionDef, names: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """(line, text) of each place that writes into another module: `np.calls = 1`, `setattr(np, "calls", 1)`."""
    for node in walked(function):
        target: ast.expr | None = None
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            target = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
            target = node.args[0]
        if isinstance(target, ast.Name) and isinstance(names.get(target.id), ModuleType):
            yield target.lineno, ast.unparse(node)


def _looked_up(node: ast.expr) -> tuple[ast.expr | None, ast.expr | None]:
    """The table and the key of `table[key]` and `table.get(key)`."""
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    is_get = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    if is_get and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        return node.func.value, node.args[0]
    return None, None


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=64)
def _tables(tree: ast.Module) -> dict[str, int]:
    """Name or attribute -> how many entries the dictionary has that is written there."""
    found = {}
    for node in walked(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            for target in node.targets:
                found[_last_name(target)] = len(node.value.keys)
    return {name: size for name, size in found.items() if name}
