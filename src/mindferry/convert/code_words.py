"""What code says, apart from its comments and descriptions: these never change what is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator


def says(pattern: re.Pattern[bytes], text: bytes) -> bool:
    """Whether the names in the code match, with what they belong to: `optimizer.state_dict`."""
    return pattern.search(text) is not None and pattern.search(_words(text)) is not None


def _words(text: bytes) -> bytes:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return " ".join(word for node in ast.walk(tree) for word in _words_of(node)).encode("utf-8", "surrogatepass")


def _words_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield name
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name):
            yield f"{owner}.{name}"
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.keyword(arg=str(name)):
            yield name
        case ast.alias(name=name):
            yield name
        case ast.ImportFrom(module=str(name)):
            yield name
        case ast.Constant(value=str(name)) if name.isidentifier():
            yield name
