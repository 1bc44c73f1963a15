"""Which expressions the reading can't tell: the receivers and arguments that a watched run is asked about."""

from __future__ import annotations

import ast

from ..apis import table
from ..frameworks.watched import Span
from ..layout import Layout, read_symbols
from ..read.fstrings import is_located
from ..read.infer import Reading, read
from ..read.source import Source, Unreadable
from ..read.torch_types import TENSOR_ATTRIBUTES, TENSOR_METHODS, UNMISTAKABLE

OWNERS = ("torch.Tensor.", "torch.nn.Module.", "torch.optim.Optimizer.", "any#")


def unclear_sites(layout: Layout) -> dict[str, dict[Span, Span]]:
    """By file: where something of unknown type stands that torch's classes have a method or attribute for.

    Two spans for each: how the watched process finds the expression, and where it truly stands. They differ inside
    f-strings, which Python places wrongly before 3.12: there it is (line and column of the string, -1, which part).
    """
    symbols, names = read_symbols(layout), torch_names()
    found: dict[str, dict[Span, Span]] = {}
    for file in layout.python:
        try:
            source = Source(file.path.read_bytes(), file.relative)
            reading = read(source, symbols.fork(), file.module, file.is_package, table().is_api)
        except (Unreadable, OSError, RecursionError):
            continue
        parts = _string_parts(reading.source)
        spans = {parts.get(node, span_of(node)): span_of(node) for node in _unclear(reading, names)}
        if spans:
            found[file.relative] = spans
    return found


def torch_names() -> frozenset[str]:
    """Methods and attributes that a tensor, a network or an optimizer has."""
    ruled = {api.rpartition("#")[2] for api in table().rules if api.startswith(OWNERS) or api.count(".") == 1}
    names = {api.rpartition(".")[2].rstrip("@") for api in ruled}  # x.chunk follows torch.chunk
    return frozenset(names | set(TENSOR_ATTRIBUTES) | set(TENSOR_METHODS) | UNMISTAKABLE)


def _unclear(reading: Reading, names: frozenset[str]) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in reading.source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in names and is_unclear(reading, node.value):
            found.append(node.value)
        elif isinstance(node, ast.Call):
            is_torch = reading.type(node.func).qual.startswith("torch.")
            is_asked = is_torch or (isinstance(node.func, ast.Attribute) and node.func.value in found)
            found += [each for each in node.args if is_asked and is_unclear(reading, each)]
    return found


def _string_parts(source: Source) -> dict[ast.AST, Span]:
    """Expressions inside f-strings, by the string that they stand in and their number in it."""
    parts: dict[ast.AST, Span] = {}
    for node in source.nodes:  # an outer string comes before what it holds
        if isinstance(node, ast.JoinedStr) and node not in parts:
            for index, part in enumerate(ast.walk(node)):
                parts[part] = (node.lineno, node.col_offset, -1, index)
    return parts


def is_unclear(reading: Reading, node: ast.expr) -> bool:
    is_value = not isinstance(node, ast.Starred | ast.Constant | ast.Lambda)
    return is_value and is_located(node) and reading.type(node).kind == "unknown"


def span_of(node: ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
