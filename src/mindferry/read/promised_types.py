"""The type that an annotation promises."""

from __future__ import annotations

import ast

from .symbols import Symbols
from .types import (
    BOOL,
    FLOAT,
    INT,
    NDARRAY,
    NONE,
    STR,
    TENSOR,
    UNKNOWN,
    Type,
    collection,
    instance,
    join,
    list_of,
    tuple_of,
)
from .uses import Use

_PLAIN = {"int": INT, "float": FLOAT, "bool": BOOL, "str": STR, "None": NONE}


def promised(node: ast.expr, kind: Type, types: dict[ast.AST, Type], symbols: Symbols) -> Type:
    """`kind` is what the annotation is as an expression; `types` has those of its parts."""
    if isinstance(node, ast.Subscript):
        name = types[node.value].qual.rpartition(".")[2].lower()
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        inner = [promised(each, types.get(each, UNKNOWN), types, symbols) for each in parts]
        if not parts:
            return tuple_of() if name == "tuple" else UNKNOWN
        if name in ("optional", "union"):
            return join(*inner)
        if name in ("list", "sequence", "iterable", "iterator"):
            return list_of(inner[0])
        if name == "tuple":
            ellipsis = isinstance(parts[-1], ast.Constant) and parts[-1].value is ...
            return list_of(inner[0]) if ellipsis else tuple_of(*inner)
        return collection("dict", inner[-1]) if name in ("dict", "mapping") else UNKNOWN
    if isinstance(node, ast.BinOp):
        return join(
            promised(node.left, types[node.left], types, symbols),
            promised(node.right, types[node.right], types, symbols),
        )
    if isinstance(node, ast.Constant) and node.value is None:
        return NONE
    if kind.kind != "ref":
        return UNKNOWN
    qual = symbols.origin(kind.qual)
    if qual in symbols.framework.annotations:
        return TENSOR
    if qual == "numpy.ndarray":
        return NDARRAY
    if qual.startswith("builtins."):
        return _PLAIN.get(qual[9:], Type(qual[9:]) if qual[9:] in ("list", "tuple", "dict", "set") else UNKNOWN)
    is_own = qual.startswith(f"{symbols.framework.name}.") and not symbols.framework.uses.has(Use.OF_PYTHON, qual)
    return instance(qual) if qual in symbols.classes or is_own else UNKNOWN
