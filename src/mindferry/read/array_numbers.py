"""Names that the project gives to numbers and arrays of numpy's or pandas': a size that is read through one may not be a Python number."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .types import Type

if TYPE_CHECKING:
    from .infer import Reading

PACKAGES = ("numpy", "pandas")
_PYTHONS = frozenset("len int item tolist".split())  # these give Python's numbers, whatever they are asked about
_SIZES = frozenset("shape size ndim".split())


def is_of_arrays(kind: Type) -> bool:
    """An array, or a number or a table of those packages."""
    return kind.kind == "ndarray" or (kind.kind == "foreign" and kind.qual.partition(".")[0] in PACKAGES)


def array_names(reading: Reading) -> set[str]:
    """The variables, attributes and keywords of this file that are given such a value."""
    source = reading.source
    if not any(source.mentions(package) for package in PACKAGES):
        return set()
    found = {each.arg for call in source.of(ast.Call) for each in call.keywords if _holds_one(reading, each.value)}
    for node in source.of(ast.Assign):
        if _holds_one(reading, node.value):
            found.update(name for target in node.targets for name in _bound(target))
    return found - {None}  # type: ignore[return-value]  # `**options` has no name


def looks_like_array_number(size: ast.expr, names: set[str]) -> bool:
    """Whether a name in it is one of `names`: of another value of that name, Python's number is the same."""
    match size:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _PYTHONS:
            return False
        case ast.Attribute(attr=name) if name in _SIZES:
            return False
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(attr=name) if name in names:
            return True
    return any(
        looks_like_array_number(each, names) for each in ast.iter_child_nodes(size) if isinstance(each, ast.expr)
    )


def _holds_one(reading: Reading, value: ast.expr) -> bool:
    return is_of_arrays(reading.type(value))


def _bound(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for each in parts:
                yield from _bound(each)
