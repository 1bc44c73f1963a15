"""`with torch.no_grad():` goes away: MindSpore computes gradients only of what value_and_grad is given."""

from __future__ import annotations

import ast
import io
import tokenize

from ..context import Context
from ..imports import delete_statement

NAMES = {"torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autograd.no_grad"}


def prepare(context: Context) -> None:
    for node in context.source.nodes:
        if isinstance(node, ast.With) and len(node.items) == 1 and _is_off(node.items[0].context_expr, context):
            context.handled |= set(ast.walk(node.items[0]))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _is_off(decorator, context):
                    context.handled |= set(ast.walk(decorator))
        elif isinstance(node, ast.Expr) and _is_off(node.value, context):
            context.handled |= set(ast.walk(node))


def _is_off(node: ast.expr, context: Context) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    return context.api(function) in NAMES


def finish(context: Context) -> None:
    for node in context.source.nodes:
        if isinstance(node, ast.With) and len(node.items) == 1 and _is_off(node.items[0].context_expr, context):
            _unwrap(context, node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _is_off(decorator, context):
                    start = context.source.line_start(context.source.start(decorator))
                    context.edits.replace(start, context.source.line_end(context.source.end(decorator)), "")
        elif isinstance(node, ast.Expr) and _is_off(node.value, context):
            delete_statement(context.edits, node)


def _unwrap(context: Context, node: ast.With) -> None:
    """Remove the header and dedent the body; lines inside strings keep their place."""
    source = context.source
    first = node.body[0]
    if first.lineno == node.lineno:  # with torch.no_grad(): x = 1
        context.edits.replace(source.start(node), source.start(first), "")
        return
    outer, inner = source.indent(node), source.indent(first)
    header_end = source.find_token(b":", source.end(node.items[0].context_expr), source.start(first)) + 1
    line_end = source.line_end(header_end)
    comment = source.data[header_end:line_end].strip()
    if comment:
        context.edits.replace(source.start(node), source.skip_blanks(header_end), "")
    else:
        context.edits.replace(source.line_start(source.start(node)), line_end, "")
    last_line = _last_line(node)
    in_strings = _lines_inside_strings(source.data.decode("utf-8"))
    surplus = len(inner) - len(outer)
    for line in range(source.position(line_end)[0], last_line + 1):
        start = source.offset(line, 0)
        if (
            line not in in_strings
            and source.data[start : start + len(inner)].strip() == b""
            and source.data[start:].strip(b" \t")[:1] not in (b"\n", b"\r", b"")
        ):
            context.edits.replace(start, start + surplus, "")
    _stop_gradients(context, node, outer)


def _last_line(node: ast.With) -> int:
    return node.end_lineno or node.lineno


def _lines_inside_strings(text: str) -> set[int]:
    """Lines that begin inside a multi-line string."""
    inside: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and token.end[0] > token.start[0]:
                inside |= set(range(token.start[0] + 1, token.end[0] + 1))
    except (tokenize.TokenError, IndentationError):
        pass
    return inside


def _stop_gradients(context: Context, node: ast.With, indent: str) -> None:
    """Inside a network, what was computed without gradients is cut off from them explicitly."""
    method = context.enclosing(node, ast.FunctionDef)
    owner = context.enclosing(method, ast.ClassDef) if method else None
    if owner is None or not context.reading.symbols.is_module(context.reading.owners.get(owner, "")):
        return
    assigned = [
        target.id
        for statement in ast.walk(node)
        if isinstance(statement, ast.Assign | ast.AugAssign)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        if isinstance(target, ast.Name) and context.reading.type(target).is_tensor
    ]
    end = context.source.line_end(context.source.end(node.body[-1]))
    stop = context.imports.spell("mindspore.ops.stop_gradient") if assigned else ""
    lines = [f"{indent}{name} = {stop}({name}){context.source.newline()}" for name in dict.fromkeys(assigned)]
    if lines:
        context.edits.before(end, "".join(lines))
