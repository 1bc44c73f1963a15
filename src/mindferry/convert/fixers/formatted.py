"""`f"{loss:.4f}"` and `"{:.4f}".format(loss)`: a MindSpore Tensor takes no format, its number does."""

from __future__ import annotations

import ast
import string

from ...read.fstrings import is_located
from ..context import Context

BEFORE_A_DOT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def prepare(context: Context) -> None:
    pass


def finish(context: Context) -> None:
    for field in context.source.of(ast.FormattedValue):
        if isinstance(field.format_spec, ast.JoinedStr) and is_located(field.value):
            _take_number(context, field.value)
    for node in context.source.of(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
                for each in _with_format(text, node):
                    _take_number(context, each)


def _with_format(text: str, call: ast.Call) -> list[ast.expr]:
    """The arguments that the text gives a format."""
    try:
        fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:
        return []
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    found: list[ast.expr] = []
    for index, (name, spec) in enumerate(fields):
        position = index if not name else int(name) if name.isdigit() else -1
        given = call.args[position] if 0 <= position < len(call.args) else keywords.get(name)
        if spec and given is not None and given not in found:
            found.append(given)
    return found if not any(isinstance(each, ast.Starred) for each in call.args) else []


def _take_number(context: Context, value: ast.expr) -> None:
    if isinstance(value, ast.Name) and _is_both(context, value):
        before = context.edits.text(value)
        context.edits.replace_node(value, f"{context.imports.spell('compat.plain_number')}({before})")
        context.rewritten(value, "format", before, context.edits.text(value))
        return
    if not context.reading.type(value).is_tensor:
        return
    start, end = context.source.start(value), context.source.end(value)
    before = context.edits.text(value)
    if isinstance(value, BEFORE_A_DOT):
        context.edits.after(end, ".item()")
    else:
        context.edits.before(start, "(")
        context.edits.after(end, ").item()")
    context.rewritten(value, "format", before, context.edits.text(value))


def _is_both(context: Context, value: ast.Name) -> bool:
    """`best = 0.0`, and a tensor later: in some round of the loop it is one."""
    scope = context.enclosing(value, ast.FunctionDef, ast.AsyncFunctionDef) or context.source.tree
    names = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and node.id == value.id and isinstance(node.ctx, ast.Store)
    ]
    kinds = {context.reading.type(node).kind for node in names}
    return "tensor" in kinds and bool(kinds & {"int", "float"})
