"""Files of a project that is not ours, read without trusting them: whatever stands in them, nothing is raised."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

from .files import read_regular

LARGEST = 64 * 2**20  # bytes of a source
BROKEN = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)  # what reading and parsing may raise


def tree_of(path: Path) -> ast.Module | None:
    """A source's tree, or None where it is no Python, too large, or no regular file."""
    try:
        return ast.parse(read_regular(path, LARGEST))
    except BROKEN:
        return None


def text_of(path: Path) -> str:
    """A text file's letters, those that are no UTF-8 replaced; empty where it can't be read."""
    try:
        return read_regular(path, LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError, MemoryError):
        return ""


def toml_at(text: str, *keys: str) -> Any:
    """What a TOML text holds under these keys, one in another; None where there is nothing, or no TOML."""
    try:
        found: Any = tomllib.loads(text)
    except BROKEN:
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found
