"""What a rewrite leaves without effect goes: `x = x` after `.to(device)`, a bare `model` after `.cuda()`, a bare None."""

from __future__ import annotations

import ast

from ..context import Context
from ..render.imports import delete_statement


def prepare(context: Context) -> None:
    pass


def finish(context: Context) -> None:
    statements: list[ast.Assign | ast.Expr] = [*context.source.of(ast.Assign), *context.source.of(ast.Expr)]
    for node in statements:
        if _is_idle(context, node):
            if len(context.block_of(node)) == 1:
                context.edits.replace_node(node, "pass")
            else:
                delete_statement(context.edits, node)
                _close_gap(context, node)


def _is_idle(context: Context, node: ast.Assign | ast.Expr) -> bool:
    if not context.edits.is_touched(node.value) or (after := context.edits.text(node.value)) == context.source.text(
        node.value
    ):
        return False
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and _squeeze(after) == _squeeze(context.edits.text(node.targets[0]))
    if context.is_notebook:  # a bare value is shown
        return False
    try:
        value = ast.parse(after, mode="eval").body
    except SyntaxError:
        return False
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name | ast.Constant)


def _close_gap(context: Context, node: ast.stmt) -> None:
    """Blank lines after a first statement would otherwise open the block."""
    source = context.source
    start = source.line_end(source.end(node))
    end = start
    while end < len(source.data) and not source.data[end : source.line_end(end)].strip():
        end = source.line_end(end)
    if context.block_of(node)[0] is node and end > start:
        context.edits.replace(start, end, "")


def _squeeze(text: str) -> str:
    return "".join(text.split()).strip("()")
