"""What code says, apart from its comments and descriptions: these never change what is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from ..read.source import Source, Unreadable

Text = tuple[bytes, Callable[[], Source]]  # a file's, and what parses it


def says(pattern: re.Pattern[bytes], file: Text) -> bool:
    """Whether the names in the code match, with what they belong to: `optimizer.state_dict`."""
    text, parsed = file
    if pattern.search(text) is None:
        return False
    try:
        source = parsed()
    except (OSError, Unreadable):
        return True
    return bool(source.mended) or pattern.search(_words(source)) is not None


def _words(source: Source) -> bytes:
    found = {word for kind, word_of in _WORDS.items() for node in source.of(kind) if (word := word_of(node))}
    return " ".join(found).encode("utf-8", "surrogatepass")


def _member(node: ast.Attribute) -> str:
    match node.value:
        case ast.Name(id=owner) | ast.Attribute(attr=owner):
            return f"{owner}.{node.attr}"
    return f".{node.attr}"


def _text(node: ast.Constant) -> str:
    return node.value if isinstance(node.value, str) and node.value.isidentifier() else ""


_WORDS: dict[type[Any], Callable[[Any], str | None]] = {
    ast.Name: lambda node: node.id,
    ast.arg: lambda node: node.arg,
    ast.ClassDef: lambda node: node.name,
    ast.FunctionDef: lambda node: node.name,
    ast.Attribute: _member,
    ast.keyword: lambda node: node.arg,
    ast.alias: lambda node: node.name,
    ast.ImportFrom: lambda node: node.module,
    ast.Constant: _text,
}
