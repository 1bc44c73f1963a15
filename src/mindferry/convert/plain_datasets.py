"""Whether a project's datasets need a base class: MindSpore reads any object that can be indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .render.parts import looks_like_dataset

DATASET = re.compile(rb"\bDataset\b")
# Where the class itself is asked for: a test, a subscript, an entry of a list or a table, an attribute, a default.
ASKED = re.compile(
    rb"(?:isinstance|issubclass)\([^()]*\bDataset\b|\bDataset\s*[\[\].}]|\bDataset\s*\(|[=\[{(,]\s*(?:\w+\.)*Dataset\s*[,\]})]"
)
BASE = re.compile(rb"class\s+\w+\s*\(\s*(?:\w+\.)*Dataset\s*\)")
IMPORT = re.compile(rb"^\s*(?:from\s[^\n]*import\s*\([^)]*\)|(?:from|import)\s[^\n]*)", re.MULTILINE)
SUM = re.compile(rb"([\w.]+)[\])]*\s*\+=?\s*[\[(]*([\w.]+)")
JOINED = re.compile(rb"\b(?:sum|reduce|add)\s*\(([^()]*)")


def has_plain_datasets(texts: Iterable[bytes]) -> bool:
    """Whether `Dataset` is nothing but a base, and no two datasets are added up, as far as the words tell."""
    has_any = False
    for text in texts:
        if DATASET.search(text):
            has_any = True
            if ASKED.search(IMPORT.sub(b"", BASE.sub(b"", text))):
                return False
    return has_any


def adds_datasets(texts: Iterable[bytes]) -> bool:
    """A wrong guess would be a TypeError where two datasets are added."""
    for text in texts:
        if any(_is_dataset(match[1]) and _is_dataset(match[2]) for match in SUM.finditer(text)):
            return True
        if any(_is_dataset(word) for match in JOINED.finditer(text) for word in re.findall(rb"\w+", match[1])):
            return True
    return False


def _is_dataset(words: bytes) -> bool:
    return looks_like_dataset(words.rpartition(b".")[2].decode("ascii", "replace"))
