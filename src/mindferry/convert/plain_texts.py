"""Files that are no code, configurations and shell scripts: what was changed in one, and where in it a place stands."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

from ..artifacts import Finding, Rewrite


@dataclass(frozen=True, slots=True)
class ChangedText:
    text: str
    compat: frozenset[str] = frozenset()  # helpers that it names
    rewrites: tuple[Rewrite, ...] = ()
    findings: tuple[Finding, ...] = ()


class Places:
    """Lines, columns and comments of a text. Each line is looked at once, however much stands in it."""

    def __init__(self, text: str, marks: str) -> None:
        """`marks`: the characters that begin a comment, at a line's start or behind a space; none in JSON."""
        self._text = text
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._mark = re.compile(rf"(?:^|\s)[{marks}]") if marks else None
        self._comments: dict[int, int] = {}  # by line, where its comment begins

    def position(self, place: int) -> tuple[int, int]:
        """Both from 1 on."""
        line = bisect.bisect_right(self._lines, place)
        return line, place - self._lines[line - 1] + 1

    def is_in_comment(self, place: int) -> bool:
        if self._mark is None:
            return False
        line = self.position(place)[0]
        if line not in self._comments:
            start = self._lines[line - 1]
            end = self._lines[line] if line < len(self._lines) else len(self._text)
            found = self._mark.search(self._text[start:end])
            self._comments[line] = start + found.start() if found is not None else len(self._text)
        return self._comments[line] < place
