"""A decorator of torch's that was left becomes a comment: a file must import even where something in it has no counterpart."""

from __future__ import annotations

import ast

from ...apis._lookup import api_of
from ..context import Context


def comment_out(context: Context) -> None:
    definitions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]
    definitions = [
        *context.source.of(ast.FunctionDef),
        *context.source.of(ast.AsyncFunctionDef),
        *context.source.of(ast.ClassDef),
    ]
    for definition in definitions:
        for decorator in definition.decorator_list:
            if _is_left(context, decorator):
                _comment(context, decorator)


def _is_left(context: Context, decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    api, receiver, _ = api_of(function, context.reading, context.rules)
    if not api or receiver is not None or decorator in context.handled:
        return False
    entry = context.rules.get(api)
    if entry is not None and not context.settings.applies_to(api, entry.api):
        return False  # left on request: its import stays
    return context.edits.text(decorator).startswith(context.source.text(function))


def _comment(context: Context, decorator: ast.expr) -> None:
    source, edits = context.source, context.edits
    start, end = source.start(decorator), source.end(decorator)
    edits.removed.add(decorator)  # no name in it needs an import any more
    edits.before(source.data.rindex(b"@", source.line_start(start), start), "# ")
    line = source.line_end(start)
    while line < end:
        edits.before(source.skip_blanks(line), "# ")
        line = source.line_end(line)
