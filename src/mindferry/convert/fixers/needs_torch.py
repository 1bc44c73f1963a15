"""Imports of packages that themselves need torch: the converted project must not, so each is a finding."""

from __future__ import annotations

import ast

from ... import findings
from ...apis.torch._packages import need_of_torch
from ..context import Context


def prepare(context: Context) -> None:
    imports: list[ast.Import | ast.ImportFrom] = [*context.source.of(ast.Import), *context.source.of(ast.ImportFrom)]
    for node in imports:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            modules = [] if node.level else [node.module or ""]
        for head in dict.fromkeys(module.partition(".")[0] for module in modules):
            if head in context.reading.symbols.roots or (need := need_of_torch(head)) is None:
                continue
            why, advice = need
            if not _is_optional(context, node):
                context.find(
                    node,
                    findings.MF150,
                    f"{head} {why}, so the import stays and the file doesn't run without torch",
                    advice,
                )


def _is_optional(context: Context, node: ast.AST) -> bool:
    """Inside `try: import apex` with a handler: the project runs without it."""
    guard = context.enclosing(node, ast.Try)
    return isinstance(guard, ast.Try) and bool(guard.handlers)


def finish(context: Context) -> None:
    pass
