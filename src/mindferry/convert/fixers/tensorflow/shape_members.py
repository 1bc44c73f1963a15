"""What TensorFlow's shapes and types have and a tuple has not: `x.shape.as_list()`, `x.get_shape()`, `x.shape.rank`, `x.dtype.name`.

Nothing else has these names in this place, so they are written whatever is known of `x`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...facts import Facts
from ...plan import AtEnd, Change, Edit, InsertBefore, ReplaceSpan, Texts, claim

OF_SHAPES = {"rank": "len", "ndims": "len"}
OF_DTYPES = {
    "name": "dtype_name",
    "is_floating": "is_float_type",
    "as_numpy_dtype": "numpy_dtype",
    "max": "dtype_max",
    "min": "dtype_min",
}


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.of(ast.Call):
        function = call.func
        if not isinstance(function, ast.Attribute) or call.args or call.keywords:
            continue
        if function.attr == "as_list":
            yield claim(call, function)
            yield AtEnd(partial(_write, facts, call, function.value, "list"))
        elif function.attr == "get_shape":
            yield claim(call, function)
            yield AtEnd(partial(_write_shape, facts, call, function.value))
    for node in facts.source.of(ast.Attribute):
        inner = node.value
        if not isinstance(node.ctx, ast.Load):
            continue
        if node.attr in OF_SHAPES and _is_shape(inner):
            yield claim(node)
            yield AtEnd(partial(_write, facts, node, inner, OF_SHAPES[node.attr]))
        elif isinstance(inner, ast.Attribute) and inner.attr == "dtype" and node.attr in OF_DTYPES:
            yield claim(node)
            yield AtEnd(partial(_write, facts, node, inner, f"compat.{OF_DTYPES[node.attr]}"))


def _is_shape(node: ast.expr) -> bool:
    """`x.shape`, or `x.get_shape()`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "get_shape" and not node.args
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _write(facts: Facts, node: ast.expr, value: ast.expr, function: str, texts: Texts) -> Iterator[Edit]:
    """`function(value)` in the place of `value.member`."""
    name = texts.name(function) if function.startswith("compat.") else function
    yield InsertBefore(facts.source.start(node), f"{name}(")
    yield ReplaceSpan(facts.source.end(value), facts.source.end(node), ")")
    yield facts.record(node, "tensorflow.TensorShape", facts.source.text(node), f"{name}({facts.source.text(value)})")


def _write_shape(facts: Facts, node: ast.Call, value: ast.expr, texts: Texts) -> Iterator[Edit]:
    yield ReplaceSpan(facts.source.end(value), facts.source.end(node), ".shape")
    yield facts.record(
        node, "tensorflow.Tensor.get_shape", facts.source.text(node), f"{facts.source.text(value)}.shape"
    )
