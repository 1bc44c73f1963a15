"""A file that was written for Python 2: what became Python 3 when it was read, and what in it does not run there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .. import findings
from ..artifacts import Finding
from ..read.older_python import Older
from ..read.source import Source
from .facts import Facts

GONE_NAMES = {
    "xrange": "range",
    "raw_input": "input",
    "unicode": "str",
    "basestring": "str",
    "long": "int",
    "unichr": "chr",
    "reduce": "functools.reduce",
    "reload": "importlib.reload",
    "execfile": "exec",
}
GONE_METHODS = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys", "has_key": "in"}
GONE_MODULES = {
    "cPickle": "pickle",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "ConfigParser": "configparser",
    "Queue": "queue",
    "StringIO": "io",
    "cStringIO": "io",
    "Tkinter": "tkinter",
}
WHOLE = frozenset(("int", "bool"))


def older_findings(source: Source, facts: Facts | None, lines: list[int]) -> list[Finding]:
    """One finding a kind of line that was mended, at the first; and in a file of Python 2, whatever stops it in Python 3.

    `lines`: where each line of the facts' own source stood in the file, if statements were set apart.
    """
    first = {each.what: each.line for each in reversed(source.mended)}
    found = [
        Finding(findings.MF908, "warning", source.path, line, 1, *what.value)
        for what, line in sorted(first.items(), key=lambda each: each[1])
    ]
    if Older.STATEMENT in first:
        told = dict.fromkeys([*_gone(source), *(_whole_divisions(facts, lines) if facts is not None else ())])
        found += [Finding(findings.MF908, "error", source.path, line, 1, *said) for line, *said in sorted(told)]
    return found


def _gone(source: Source) -> Iterator[tuple[int, str, str]]:
    """Names that Python 3 has not, where they are first used: code that tells the versions apart binds them itself."""
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for kind in (ast.Import, ast.ImportFrom)
        for node in source.of(kind)
        for alias in node.names  # type: ignore[attr-defined]
    }
    for name, instead in GONE_NAMES.items():
        if name in source.named and name not in source.stored and name not in imported:
            yield source.named[name][0].lineno, f"Python 3 has no {name}", f"write {instead} in its place"
    for name, instead in GONE_METHODS.items():
        for node in source.members.get(name, ())[:1]:
            yield node.lineno, f"dictionaries have no {name} in Python 3", f"write {instead} in its place"
    for name, instead in GONE_MODULES.items():
        for statement in source.of(ast.Import):
            if any(alias.name == name for alias in statement.names) and not _is_tried(source, statement):
                yield statement.lineno, f"Python 3 has no module {name}", f"import {instead} in its place"
        for taken in source.of(ast.ImportFrom):
            if taken.module == name and not taken.level and not _is_tried(source, taken):
                yield taken.lineno, f"Python 3 has no module {name}", f"import {instead} in its place"


def _is_tried(source: Source, statement: ast.stmt) -> bool:
    return isinstance(source.parents[statement], ast.Try | ast.ExceptHandler | ast.If)


def _whole_divisions(facts: Facts, lines: list[int]) -> Iterator[tuple[int, str, str]]:
    """Of what are certainly two integers: the quotient was one too."""
    if any(node.module == "__future__" and _names_division(node) for node in facts.source.of(ast.ImportFrom)):
        return
    for node in facts.source.of(ast.BinOp):
        sides = (facts.reading.type(node.left).kind, facts.reading.type(node.right).kind)
        if isinstance(node.op, ast.Div) and WHOLE.issuperset(sides):
            line = lines[node.lineno - 1] if lines else node.lineno
            yield line, "this division of two integers gave an integer in Python 2", "write // in place of /"


def _names_division(node: ast.ImportFrom) -> bool:
    return any(alias.name == "division" for alias in node.names)
