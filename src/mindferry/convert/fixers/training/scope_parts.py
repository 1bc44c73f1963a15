"""The simple parts of a function, a loop or a module, and what each reads and writes: told once, however many losses ask."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable, Set

from ....read.walk import children_of
from ...facts import Facts
from . import flow

COMPOUND = (
    ast.For,
    ast.While,
    ast.If,
    ast.With,
    ast.Try,
    ast.ExceptHandler,
    ast.FunctionDef,
    ast.withitem,
)


def simple_parts(roots: Iterable[ast.AST]) -> list[ast.AST]:
    """What is not made of statements itself, the last first."""
    found: list[ast.AST] = []
    stack = list(roots)
    while stack:
        node = stack.pop()
        if isinstance(node, COMPOUND):
            stack.extend(children_of(node))
        else:
            found.append(node)
    return found


class Region:
    """The simple parts of one scope or loop."""

    def __init__(self, facts: Facts, root: ast.AST) -> None:
        self._start = facts.source.start
        parts = simple_parts(children_of(root))
        self.writes = {part: flow.writes(part) for part in parts}
        self._readers: dict[str, list[ast.AST]] = {}
        self._writers: dict[str, list[ast.AST]] = {}
        for part in parts:
            for name in flow.reads(part):
                self._readers.setdefault(name, []).append(part)
            for name in self.writes[part]:
                self._writers.setdefault(name, []).append(part)
        self._placed = sorted((part for part in parts if hasattr(part, "lineno")), key=self._start)
        self._lines: dict[str, list[ast.AST]] = {}

    def is_read(self, name: str, without: Set[ast.AST]) -> bool:
        """Whether a part that is none of these reads the name."""
        return any(part not in without for part in self._readers.get(name, ()))

    def count_readers(self, name: str, without: Set[ast.AST]) -> int:
        return sum(part not in without for part in self._readers.get(name, ()))

    def is_written(self, name: str, without: Set[ast.AST]) -> bool:
        return any(part not in without for part in self._writers.get(name, ()))

    def readers_between(self, name: str, first: int, last: int, without: Set[ast.AST]) -> list[ast.AST]:
        """Those that read the name between two lines, the last first."""
        if name not in self._lines:
            self._lines[name] = self._readers.get(name, [])[::-1]
            self._lines[name].sort(key=_line)
        readers = self._lines[name]
        low, high = bisect.bisect_right(readers, first, key=_line), bisect.bisect_left(readers, last, key=_line)
        return [part for part in reversed(readers[low:high]) if part not in without]

    def between(self, start: int, end: int, without: Set[ast.AST]) -> list[ast.AST]:
        """The parts that start between two offsets, the last first."""
        low = bisect.bisect_right(self._placed, start, key=self._start)
        high = bisect.bisect_left(self._placed, end, key=self._start)
        return [part for part in reversed(self._placed[low:high]) if part not in without]


def _line(part: ast.AST) -> int:
    return getattr(part, "lineno", 0)


class Regions:
    """Of a file, by what they are the parts of."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._found: dict[ast.AST, Region] = {}

    def of(self, root: ast.AST) -> Region:
        if root not in self._found:
            self._found[root] = Region(self._facts, root)
        return self._found[root]
