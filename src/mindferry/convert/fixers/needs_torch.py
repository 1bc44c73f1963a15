"""Imports of packages that themselves need torch: the converted project must not, so each is a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...apis.torch._packages import need_of_torch
from ..facts import Facts
from ..plan import Change


def plan(facts: Facts) -> Iterator[Change]:
    imports: list[ast.Import | ast.ImportFrom] = [*facts.source.of(ast.Import), *facts.source.of(ast.ImportFrom)]
    symbols = facts.reading.symbols
    own = symbols.roots | {module.partition(".")[0] for module in symbols.excluded}  # left out, and yet no package
    for node in imports:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [] if node.level else [node.module or ""]
        for head in dict.fromkeys(module.partition(".")[0] for module in modules):
            if head in own or (need := need_of_torch(head)) is None:
                continue
            if not is_optional(facts, node):
                yield facts.found(
                    node,
                    findings.MF150,
                    f"{head} {need.why}, so the import stays and the file doesn't run without torch",
                    f"bring along what is used of it: convert with --with {head}; otherwise {need.advice}",
                    "warning" if need.is_guess else "",
                )


def is_optional(facts: Facts, node: ast.AST) -> bool:
    """Inside `try: import apex` with a handler: the project runs without it."""
    guard = facts.enclosing(node, ast.Try)
    return isinstance(guard, ast.Try) and bool(guard.handlers)
