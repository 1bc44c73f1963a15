"""`with torch.no_grad():` goes away: MindSpore computes gradients only of what value_and_grad is given.

Where such a function may take part in a loss, what it computed without gradients is cut off from them explicitly.
"""

from __future__ import annotations

import ast

from ... import findings
from ..context import Context
from ..render.imports import delete_decorator, delete_statement
from . import stopped

CASTS = {
    "torch.autocast",
    "torch.amp.autocast",
    "torch.cuda.amp.autocast",
    "torch.cpu.amp.autocast",
    "torch.amp.autocast_mode.autocast",
}
NAMES = {"torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled", "torch.autograd.no_grad"}


def prepare(context: Context) -> None:
    for node in _candidates(context):
        if isinstance(node, ast.With) and _is_all_off(node, context):
            context.handled |= {each for item in node.items for each in ast.walk(item)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _is_off(decorator, context):
                    context.handled |= set(ast.walk(decorator))
        elif isinstance(node, ast.Expr) and _is_off(node.value, context):
            context.handled |= set(ast.walk(node))


def _is_off(node: ast.expr, context: Context) -> bool:
    function = node.func if isinstance(node, ast.Call) else node
    return context.api(function) in NAMES | CASTS


def _is_all_off(node: ast.With, context: Context) -> bool:
    return all(_is_off(item.context_expr, context) and item.optional_vars is None for item in node.items)


def _casts(item: ast.withitem, context: Context) -> bool:
    return _is_cast(item.context_expr, context)


def _is_cast(node: ast.expr, context: Context) -> bool:
    return context.api(node.func if isinstance(node, ast.Call) else node) in CASTS


def _candidates(context: Context) -> list[ast.stmt]:
    of = context.source.of
    return [*of(ast.With), *of(ast.FunctionDef), *of(ast.AsyncFunctionDef), *of(ast.Expr)]


def finish(context: Context) -> None:
    for node in _candidates(context):
        if isinstance(node, ast.With) and _is_all_off(node, context):
            _unwrap(context, node)
            if any(_casts(item, context) for item in node.items):
                context.find(
                    node,
                    findings.MF203,
                    "runs in float32 now: MindSpore casts networks, not blocks",
                    "for mixed precision on Ascend wrap the network: `amp.auto_mixed_precision(net, 'O2')`",
                )
            for item in node.items:
                if not _casts(item, context):
                    stopped.after_block(context, node, item.context_expr)
        elif isinstance(node, ast.With):
            for item in node.items:
                if stopped.chosen(context, item.context_expr):
                    stopped.after_block(context, node, item.context_expr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if _is_off(decorator, context):
                    delete_decorator(context.edits, decorator)
                    if not _is_cast(decorator, context):
                        stopped.in_function(context, node)
        elif isinstance(node, ast.Expr) and _is_off(node.value, context):
            delete_statement(context.edits, node)
            if stopped.trains(context.source.tree):
                context.find(
                    node,
                    findings.MF204,
                    f"{context.source.text(node)}: gradients are not switched by a statement here",
                    "use the block `with torch.no_grad():`, or detach() what is computed without gradients",
                )


def _unwrap(context: Context, node: ast.With) -> None:
    """Remove the header and dedent the body; lines inside strings keep their place."""
    source = context.source
    first = node.body[0]
    if first.lineno == node.lineno:  # with torch.no_grad(): x = 1
        context.edits.replace(source.start(node), source.start(first), "")
        return
    outer, inner = source.indent(node), source.indent(first)
    header_end = source.find_token(b":", source.end(node.items[-1].context_expr), source.start(first)) + 1
    line_end = source.line_end(header_end)
    comment = source.data[header_end:line_end].strip()
    if comment:
        context.edits.replace(source.start(node), source.skip_blanks(header_end), "")
    else:
        context.edits.replace(source.line_start(source.start(node)), line_end, "")
    last_line = _last_line(node)
    in_strings = source.lines_inside_strings
    for line in range(source.position(line_end)[0], last_line + 1):
        start = source.offset(line, 0)
        if (
            line not in in_strings
            and source.data[start : start + len(inner)].strip() == b""
            and source.data[start:].strip(b" \t")[:1] not in (b"\n", b"\r", b"")
        ):
            context.edits.replace(start + len(outer), start + len(inner), "")  # not at the start: blocks may be nested


def _last_line(node: ast.With) -> int:
    return node.end_lineno or node.lineno
