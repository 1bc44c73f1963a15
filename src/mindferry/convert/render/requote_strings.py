"""Texts inside an f-string: before Python 3.12 what stands in its braces can't use the quotes that the string itself has."""

from __future__ import annotations

import ast
import bisect
import re

from ...read.edits import Edits
from ...read.fstrings import is_located

_OPENING = re.compile(rb"(?<![\w'\"])[fFrR]{1,2}('''|\"\"\"|'|\")")
OTHER = {"'": '"', '"': "'"}


def requote(edits: Edits) -> None:
    """What was written into the braces of an f-string gets the other quotes."""
    source = edits.source
    for text in source.of(ast.JoinedStr):
        if not edits.is_touched(text):
            continue
        openings = list(_OPENING.finditer(source.data, source.start(text), source.end(text)))  # its own, and inner ones
        for field in text.values:
            if not isinstance(field, ast.FormattedValue) or not is_located(field.value):
                continue
            before = bisect.bisect_right(openings, source.start(field.value), key=re.Match.end)
            quote = openings[before - 1][1].decode() if before else ""
            new = edits.text(field.value)
            if quote in OTHER and quote in new and quote not in source.text(field.value):
                edits.replace_node(field.value, new.replace(quote, OTHER[quote]), swallows=True)
