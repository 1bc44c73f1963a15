"""Imports of the source framework that stand under each other: what takes their place is one block, in one order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...read.source import Source

Import = ast.Import | ast.ImportFrom


def runs_of(source: Source, nodes: Sequence[Import]) -> dict[Import, list[Import]]:
    """By the first of each run, all of it; nothing by the others. `nodes` go as a whole."""
    found: dict[Import, list[Import]] = {}
    run: list[Import] = []
    for node in nodes:
        if run and not _follows(source, run[-1], node):
            run = []
        found[node] = []
        run.append(node)
        found[run[0]] = run
    return found


def _follows(source: Source, first: Import, second: Import) -> bool:
    """On the next line, or below nothing but comments, which stay."""
    between = source.data[source.line_end(source.end(first)) : source.line_start(source.start(second))].splitlines()
    return first.end_lineno != second.lineno and all(line.lstrip().startswith(b"#") for line in between)


def names_of(run: Iterable[Import]) -> Iterator[tuple[Import, ast.alias]]:
    return ((node, alias) for node in run for alias in node.names)


def merged(lines: Iterable[str]) -> list[str]:
    """With the names of each of MindSpore's modules on one line."""
    found: dict[str, list[str]] = {}
    for line in lines:
        module, separator, name = line.partition(" import ")
        is_shared = separator and module.startswith("from mindspore") and "\n" not in line
        found.setdefault(module + separator if is_shared else line, []).append(name if is_shared else "")
    return [start + ", ".join(sorted(names)) for start, names in found.items()]


def still_used(homes: Mapping[str, str], text: str) -> dict[str, str]:
    """Without those of MindSpore's modules that only statements named which are gone by now."""
    return {
        home: name
        for home, name in homes.items()
        if not home.startswith("mindspore") or re.search(_alone(re.escape(name)), text)
    }


def _alone(name: str) -> str:
    """The name first and what must not stand before it behind: a pattern that begins with a text is found several times as fast."""
    return rf"{name}(?<![\w.]{name})\b"
