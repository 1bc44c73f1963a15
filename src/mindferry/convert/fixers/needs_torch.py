"""Imports of packages that themselves need torch: the converted project must not, so each is a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...apis.torch._packages import packages
from ..facts import Facts
from ..plan import Change


def plan(facts: Facts) -> Iterator[Change]:
    known = packages()
    imports: list[ast.Import | ast.ImportFrom] = [*facts.source.of(ast.Import), *facts.source.of(ast.ImportFrom)]
    for node in imports:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [] if node.level else [node.module or ""]
        for head in dict.fromkeys(module.partition(".")[0] for module in modules):
            if head in known and head not in facts.reading.symbols.roots and not _is_optional(facts, node):
                yield facts.found(
                    node,
                    findings.MF150,
                    f"{head} needs torch itself, so the import stays and the file doesn't run without torch",
                    known[head],
                )


def _is_optional(facts: Facts, node: ast.AST) -> bool:
    """Inside `try: import apex` with a handler: the project runs without it."""
    guard = facts.enclosing(node, ast.Try)
    return isinstance(guard, ast.Try) and bool(guard.handlers)
