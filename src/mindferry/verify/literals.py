"""Numbers that a network's code holds: one that only one side has may count where no input reaches, as an epsilon or a limit does."""

from __future__ import annotations

import ast
import contextlib
import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

SIZES = {"shape", "size", "numel", "nelement", "len"}  # what tells how large something is
COMMON = {0.0, 0.5, 1.0, 2.0, 3.0, 4.0}  # axes, halves, doubles: a conversion may say the same in other ways
ORDERING = {"transpose", "permute", "swapaxes", "moveaxis", "movedim"}
AXES = ast.Constant | ast.Tuple | ast.List | ast.UnaryOp | ast.USub | ast.Load
EPSILON, LIMIT = 1e-2, 1e4  # a reference's number may be gone for a good reason, unless it is an epsilon or a limit


@lru_cache(maxsize=4096)
def walked(node: ast.AST) -> tuple[ast.AST, ...]:
    """All that is in it. One function is gone through for many reasons, and to go through a tree costs more than to look."""
    return tuple(ast.walk(node))


@dataclass(frozen=True, slots=True)
class Literal:
    """A number without its sign, and whether it is compared with a size."""

    value: float
    is_size: bool = False

    def __str__(self) -> str:
        return f"{'a size of ' if self.is_size else ''}{self.value:g}"


def literals_of(functions: Iterable[tuple[ast.Module, ast.AST]]) -> dict[Literal, int]:
    """Of functions that ran, each with the file that it is in: every number that tells something, and the first line that holds it."""
    found: dict[Literal, int] = {}
    for tree, function in functions:
        constants = _constants(tree)
        for each, line in (*_numbers(function, constants), *_sizes(function)):
            found.setdefault(each, line)
    return found


def looked_up(functions: Iterable[tuple[ast.AST, Mapping[str, Any]]]) -> dict[Literal, int]:
    """Numbers that functions take from elsewhere: `CFG["eps"]`, `Limits.most`, a name from another file."""
    found: dict[Literal, int] = {}
    for function, names in functions:
        for node in walked(function):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
                value = _resolved(node, names)
                is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
                if is_number and abs(value) not in COMMON:
                    found.setdefault(Literal(abs(float(value))), node.lineno)
    return found


def implied_by(functions: Iterable[tuple[ast.AST, Mapping[str, Any]]]) -> set[Literal]:
    """Numbers that the functions called there take where none is given: an epsilon of 1e-12 that one side leaves to a default."""
    found = set()
    for function, names in functions:
        for node in walked(function):
            if isinstance(node, ast.Call):
                found |= {Literal(each) for each in _default_numbers(_resolved(node.func, names))}
    return found


def _resolved(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The object that a name with attributes and keys stands for in its file; None if it has none. Nothing is called."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _resolved(node.value, names)
        return getattr(owner, "__dict__", {}).get(node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        owner = _resolved(node.value, names)
        if type(owner) in (dict, list, tuple):
            with contextlib.suppress(LookupError, TypeError):
                return owner[node.slice.value]
    return None


def _default_numbers(called: Any) -> Iterator[float]:
    try:
        parameters = inspect.signature(called).parameters.values() if callable(called) else ()
    except (TypeError, ValueError):  # a function without a signature
        return
    for each in parameters:
        if isinstance(each.default, int | float) and not isinstance(each.default, bool):
            yield abs(float(each.default))


def only_here(ours: Iterable[Literal], theirs: Iterable[Literal]) -> list[Literal]:
    """What the conversion's code holds and the reference's does not."""
    known = set(theirs)
    return [each for each in ours if each not in known]


def only_there(ours: Iterable[Literal], theirs: Iterable[Literal]) -> list[Literal]:
    """What the reference's code holds and the conversion's does not: an epsilon or a limit."""
    known = set(ours)
    return [each for each in theirs if each not in known and not each.is_size and not EPSILON < each.value < LIMIT]


def _numbers(function: ast.AST, constants: dict[str, float]) -> Iterator[tuple[Literal, int]]:
    axes = {id(each) for call in walked(function) for each in _axes(call)}
    for node in walked(function):
        value = _number_in(node) if id(node) not in axes else None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            value = constants.get(node.id)
        if value is not None and value not in COMMON and value == value:
            yield Literal(value), getattr(node, "lineno", 0)


def _axes(node: ast.AST) -> Iterator[ast.AST]:
    """Of a call that puts axes in another order, the whole numbers that it is given: of many axes, one may be the sixth."""
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ORDERING:
        for given in node.args:
            if all(isinstance(each, AXES) for each in walked(given)):
                yield from walked(given)


def _number_in(node: ast.AST) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        try:
            return abs(float(node.value))
        except OverflowError:
            return None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float" and node.args:
        given = node.args[0]
        with contextlib.suppress(ValueError):  # float("1e-9")
            text = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
            return abs(float(text)) if math.isfinite(float(text)) else None
    return None


def _constants(tree: ast.Module) -> dict[str, float]:
    """Names that a file gives a number to, once and for all: EPS = 1e-6."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            inner = node.value.operand if isinstance(node.value, ast.UnaryOp) else node.value
            value = _number_in(inner)
            if value is not None:
                found[node.targets[0].id] = value
    return found


def _sizes(function: ast.AST) -> Iterator[tuple[Literal, int]]:
    """Numbers that a size is compared with, or divided by: that very size may be one which no run has."""
    names = _names_of_sizes(function)
    for node in walked(function):
        is_bound = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("max", "min")
        is_asked = isinstance(node, ast.Compare) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))
        if not (is_bound or is_asked) or not any(_is_size(each, names) for each in walked(node)):
            continue
        for each in walked(node):
            value = _number_in(each)
            if value is not None and (value > 1 or is_bound):
                yield Literal(value, is_size=True), getattr(node, "lineno", 0)


def _names_of_sizes(function: ast.AST) -> set[str]:
    """Local names for a size: `batch, length = x.shape`."""
    found: set[str] = set()
    for node in walked(function):
        if isinstance(node, ast.Assign) and any(_is_size(each, found) for each in walked(node.value)):
            found |= {each.id for target in node.targets for each in walked(target) if isinstance(each, ast.Name)}
    return found


def _is_size(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in SIZES
    return isinstance(node, ast.Name) and (node.id in names or node.id == "len")
