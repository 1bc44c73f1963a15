"""`device = x.device` goes once nothing reads it: tensors place themselves, and a graph can't ask one where it is."""

from __future__ import annotations

import ast
import re

from ..context import Context
from ..render.imports import delete_statement


def prepare(context: Context) -> None:
    pass


def finish(context: Context) -> None:
    for node in context.source.of(ast.Assign):
        target = node.targets[0]
        if len(node.targets) != 1:
            continue
        if isinstance(target, ast.Name) and _is_device(context, node.value) and _is_unread(context, node, target):
            if len(context.block_of(node)) > 1:
                delete_statement(context.edits, node)
                context.rewritten(node, "device", context.source.text(node), "")
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(node.value.elts) > 1:
            _shorten(context, node, target.elts, node.value.elts)


def _shorten(context: Context, node: ast.Assign, names: list[ast.expr], values: list[ast.expr]) -> None:
    """`b, n, device = *x.shape, x.device` ends one earlier."""
    name, value = names[-1], values[-1]
    if len(names) > 1 and isinstance(name, ast.Name) and _is_device(context, value) and _is_unread(context, node, name):
        before = context.source.text(node)
        if len(values) == 2 and isinstance(values[0], ast.Starred):  # `b, n = x.shape`, without the star
            context.edits.replace(context.source.start(values[0]), context.source.start(values[0].value), "")
        for elements in (names, values):
            context.edits.replace(context.source.end(elements[-2]), context.source.end(elements[-1]), "")
        context.rewritten(node, "device", before, context.edits.text(node))


def _is_device(context: Context, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "device" and context.reading.type(node.value).is_tensor


def _is_unread(context: Context, node: ast.Assign, name: ast.Name) -> bool:
    """A local name that no statement of the function mentions any more."""
    function = context.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    if function is None or [each.id for each in context.stores(name.id) if context.is_within(each, function)] != [
        name.id
    ]:
        return False
    source = context.source
    mentioned = re.compile(rf"(?<![\w.]){re.escape(name.id)}\b(?!\s*=[^=])")
    parts = (
        context.edits.span(source.start(function), source.start(node)),
        context.edits.span(source.end(node), source.end(function)),
    )
    return not any(mentioned.search(part) for part in parts)
