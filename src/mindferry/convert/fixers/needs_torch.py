"""Imports of packages that themselves need torch: the converted project must not, so each is a finding.

The file can be imported all the same: what such a package would give has a placeholder, which says why where it is used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...apis.torch._packages import need_of_torch
from ..facts import Facts
from ..plan import Change, MayBeAbsent


def plan(facts: Facts) -> Iterator[Change]:
    imports: list[ast.Import | ast.ImportFrom] = [*facts.source.of(ast.Import), *facts.source.of(ast.ImportFrom)]
    symbols = facts.reading.symbols
    own = symbols.roots | {module.partition(".")[0] for module in symbols.excluded}  # left out, and yet no package
    for node in imports:
        if isinstance(node, ast.Import):
            names = [(alias.name.partition(".")[0], alias) for alias in node.names]
        else:
            names = [] if node.level else [((node.module or "").partition(".")[0], alias) for alias in node.names]
        for head in dict.fromkeys(head for head, _ in names):
            if head in own or (need := need_of_torch(head)) is None or is_optional(facts, node):
                continue
            yield facts.found(
                node,
                findings.MF150,
                f"{head} {need.why}, so what uses it doesn't run without torch",
                f"bring along what is used of it: convert with --with {head}; otherwise {need.advice}",
                "warning" if need.is_guess and not symbols.roots else "",  # a file alone may have it beside it
                rule=head,
            )
            if not need.is_guess and _stops_the_file(facts, node):
                yield from (MayBeAbsent(alias) for of, alias in names if of == head and alias.name != "*")


def is_optional(facts: Facts, node: ast.AST) -> bool:
    """Inside `try: import apex` with a handler: the project runs without it."""
    guard = facts.enclosing(node, ast.Try)
    return isinstance(guard, ast.Try) and bool(guard.handlers)


def _stops_the_file(facts: Facts, node: ast.Import | ast.ImportFrom) -> bool:
    """Whether it is imported with the file; one in a function fails where it is used, and says which package is missing."""
    function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    return function is None and not facts.source.indent(node).strip()
