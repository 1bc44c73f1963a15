"""Which expressions the reading can't tell: the receivers and arguments that a watched run is asked about."""

from __future__ import annotations

import ast

from ..apis import table
from ..apis.torch._members import members
from ..files import read_regular
from ..frameworks.watched import Span
from ..layout import LARGEST_CODE, SECOND, Layout, read_symbols, source_of
from ..read.fstrings import is_located
from ..read.infer import Reading, read
from ..read.source import Source, Unreadable

OWNERS = ("Tensor", "Module", "Optimizer", "LRScheduler", "Dataset", "DataLoader")
UNCLEAR = ("unknown", "none")  # what a reading says of what it can't tell


def unclear_sites(layout: Layout) -> dict[str, dict[Span, Span]]:
    """By file: where something of unknown type stands that torch's classes have a method or attribute for.

    Two spans for each: how the watched process finds the expression, and where it truly stands. They differ inside
    f-strings, which Python places wrongly before 3.12: there it is (line and column of the string, -1, which part).
    """
    symbols, names = read_symbols(layout), torch_names()
    found: dict[str, dict[Span, Span]] = {}
    for file in layout.python:
        try:
            source = Source(read_regular(file.path, LARGEST_CODE), file.relative)
            if symbols.second is not None and source_of(source.data, symbols.is_first_used) == SECOND:
                continue  # its helpers take whatever they are given: no type decides anything there
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
    return frozenset(name for owner in OWNERS for name in members().get(owner, ()))


def _unclear(reading: Reading, names: frozenset[str]) -> list[ast.expr]:
    found: list[ast.expr] = []
    for node in reading.source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in names and is_unclear(reading, node.value):
            found.append(node.value)
        elif isinstance(node, ast.Call):
            is_torch = reading.symbols.framework.has(reading.type(node.func).qual)
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
    """Whether the reading can't tell what it is; an attribute that only seems to be a method of torch's is unclear too."""
    if isinstance(node, ast.Starred | ast.Constant | ast.Lambda) or not is_located(node):
        return False
    kind = reading.type(node)
    return kind.kind in UNCLEAR or (kind.kind == "method" and isinstance(node, ast.Attribute))


def span_of(node: ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
