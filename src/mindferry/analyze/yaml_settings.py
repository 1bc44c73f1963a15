"""Scalars of YAML files, enough for training settings: `key: value` lines at any depth. Anchors, tags and blocks are left alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from .values import Spot, Values

LARGEST = 200_000
_PAIR = re.compile(r"^\s*(?:- )?([A-Za-z_][\w-]*)\s*:\s+([^\s#&*!|>{][^#]*?)\s*(?:#.*)?$")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_WORDS: dict[str, bool | None] = {"true": True, "yes": True, "false": False, "no": False, "null": None, "~": None}


def read_yaml(path: Path, values: Values) -> None:
    """Add the file's settings, as if each were a field of a settings class."""
    try:
        if path.stat().st_size > LARGEST:
            return
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        match = _PAIR.match(line)
        if match:
            key, text = match.groups()
            values.fields.setdefault(key.replace("-", "_"), []).append(Spot(ast.Constant(_scalar(text)), ""))


def _scalar(text: str) -> int | float | str | bool | None:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.fullmatch(text):
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    return text.strip("'\"")
