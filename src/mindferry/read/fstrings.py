"""Right positions for expressions inside f-strings: before Python 3.12 `ast` places them loosely or wrongly."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .source import Source

_PREFIX = re.compile(rb"([A-Za-z]{0,3})(\"\"\"|'''|\"|')")


def relocate(node: ast.JoinedStr, source: Source) -> None:
    """Give the nodes inside an f-string their true positions; where that fails they stay untouched."""
    if sys.version_info < (3, 12) and _holds_more_than_names(node) and not getattr(node, "_part", False):
        _relocate_one(node, source)


def _holds_more_than_names(node: ast.JoinedStr) -> bool:
    return any(isinstance(value, ast.FormattedValue) and not isinstance(value.value, ast.Name) for value in node.values)


def is_located(node: ast.AST) -> bool:
    return "_lost" not in node.__dict__


def _relocate_one(node: ast.JoinedStr, source: Source) -> None:
    for part in ast.walk(node):
        part._part = True  # type: ignore[attr-defined]
    fields = [value for value in node.values if isinstance(value, ast.FormattedValue)]
    try:
        spans = list(_field_spans(source.data, source.start(node), source.end(node)))
    except ValueError:
        spans = []
    for index, field in enumerate(fields):
        located = _parse_at(source, *spans[index]) if len(spans) == len(fields) else None
        if located is not None and ast.dump(located) == ast.dump(field.value):
            field.value = located
        else:
            for part in ast.walk(field):
                part._lost = True  # type: ignore[attr-defined]
        if field.format_spec is not None:
            for part in ast.walk(field.format_spec):
                part._lost = True  # type: ignore[attr-defined]


def _parse_at(source: Source, start: int, end: int) -> ast.expr | None:
    text = source.data[start:end]
    try:
        tree = ast.parse(b"(" + text + b")", mode="eval").body
    except SyntaxError:
        return None
    line, column = source.position(start)
    for node in ast.walk(tree):
        if not hasattr(node, "lineno"):
            continue
        node._part = True  # type: ignore[attr-defined]
        for line_name, column_name in (("lineno", "col_offset"), ("end_lineno", "end_col_offset")):
            if getattr(node, line_name) == 1:
                setattr(node, column_name, getattr(node, column_name) - 1 + column)
            setattr(node, line_name, getattr(node, line_name) + line - 1)
    return tree


def _field_spans(data: bytes, start: int, end: int) -> Generator[tuple[int, int], None, None]:
    """Spans of the replacement fields' expressions in the adjacent string literals of data[start:end]."""
    position = start
    while position < end:
        match = _PREFIX.match(data, position)
        if not match:
            position += 1
            continue
        prefix, quote = match.groups()
        if b"f" in prefix.lower():
            position = yield from _scan(data, match.end(), quote, b"r" in prefix.lower())
        else:
            position = _skip_string(data, match.end(), quote)


def _skip_string(data: bytes, position: int, quote: bytes) -> int:
    while not data.startswith(quote, position):
        position += 2 if data[position : position + 1] == b"\\" else 1
        if position >= len(data):
            raise ValueError("unterminated")
    return position + len(quote)


def _scan(data: bytes, position: int, quote: bytes, raw: bool) -> Generator[tuple[int, int], None, int]:
    while not data.startswith(quote, position):
        if position >= len(data):
            raise ValueError("unterminated")
        byte = data[position : position + 1]
        if (byte == b"\\" and not raw) or data[position : position + 2] in (b"{{", b"}}"):
            position += 2
        elif byte == b"{":
            finish = _expression_end(data, position + 1)
            yield position + 1, finish
            position = _field_end(data, finish)
        else:
            position += 1
    return position + len(quote)


def _expression_end(data: bytes, position: int) -> int:
    """Where the expression stops: at `!r`, `:`, `=` before one of these, or `}` outside brackets and strings."""
    depth, begin = 0, position
    while position < len(data):
        byte = data[position : position + 1]
        if byte in b"([{":
            depth += 1
        elif byte in b")]" or (byte == b"}" and depth):
            depth -= 1
        elif byte in b"\"'":
            quote = data[position : position + 3] if data[position : position + 3] in (b'"""', b"'''") else byte
            position = _skip_string(data, position + len(quote), quote)
            continue
        elif not depth and (byte in b":}" or (byte == b"!" and data[position + 1 : position + 2] != b"=")):
            stripped = data[begin:position].rstrip()
            debug = stripped.endswith(b"=") and stripped[-2:] not in (b"==", b"!=", b"<=", b">=")
            return begin + len(stripped) - 1 if debug else position
        position += 1
    raise ValueError("unterminated")


def _field_end(data: bytes, position: int) -> int:
    depth = 0
    while position < len(data):
        byte = data[position : position + 1]
        if byte == b"{":
            depth += 1
        elif byte == b"}":
            if not depth:
                return position + 1
            depth -= 1
        position += 1
    raise ValueError("unterminated")
