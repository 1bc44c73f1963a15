"""What only torch's own kernels and compilers need goes: `cudnn.benchmark = True`, `@torch.jit.ignore`, `not is_scripting() and`."""

from __future__ import annotations

import ast
import re

from ..context import Context
from ..render.imports import delete_decorator, delete_statement

SETTINGS = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.", "torch.fx.config.")
JOINT = re.compile(rb"\s+(?:and|or)\s+")
NOT_COMPILED = "compat.uncompiled"  # what the rules of torch's compiler decorators stand for


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LOOKED_AT = frozenset({ast.Assign, ast.BoolOp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


def prepare(context: Context) -> None:
    for node in context.source.nodes:
        if type(node) not in LOOKED_AT:
            continue
        if isinstance(node, Definition):
            for decorator in node.decorator_list:
                if _is_idle(context, decorator):
                    context.handled |= set(ast.walk(decorator))
        elif _is_setting(context, node):
            context.handled |= set(ast.walk(node))


def _is_setting(context: Context, node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Attribute):
        return False
    owner = context.api(node.targets[0].value)
    return f"{owner}.".startswith(SETTINGS)


def _is_idle(context: Context, decorator: ast.expr) -> bool:
    entry = context.rules.get(context.api(decorator.func if isinstance(decorator, ast.Call) else decorator))
    return entry is not None and entry.like == NOT_COMPILED


def finish(context: Context) -> None:
    source = context.source
    for node in [each for each in source.nodes if type(each) in LOOKED_AT]:
        if isinstance(node, ast.Assign) and _is_setting(context, node):
            _remove_setting(context, node)
        elif isinstance(node, ast.BoolOp):
            _remove_constants(context, node)
        elif isinstance(node, Definition):
            for decorator in node.decorator_list:
                if _is_idle(context, decorator):
                    delete_decorator(context.edits, decorator)
                    context.rewritten(decorator, "decorator", source.text(decorator), "")


def _remove_setting(context: Context, node: ast.Assign) -> None:
    target = node.targets[0]
    assert isinstance(target, ast.Attribute)
    before = context.source.text(node)
    is_on = isinstance(node.value, ast.Constant) and node.value.value is True
    if target.attr == "deterministic" and is_on:
        context.edits.replace_node(node, f"{context.imports.spell('mindspore.set_deterministic')}(True)")
    elif len(context.block_of(node)) == 1:
        context.edits.replace_node(node, "pass")
    else:
        delete_statement(context.edits, node)
    context.rewritten(node, "setting", before, context.edits.text(node))


def _remove_constants(context: Context, node: ast.BoolOp) -> None:
    """`not False and x.ndim == 2` is `x.ndim == 2`: what asked for torch's compiler is decided."""
    source, edits = context.source, context.edits
    idle = "False" if isinstance(node.op, ast.Or) else "not False"
    is_idle = [edits.text(each) == idle and source.text(each) != idle for each in node.values]
    for index, value in enumerate(node.values):
        if not is_idle[index]:
            continue
        if not all(is_idle[: index + 1]):  # something stays before it
            before = source.end(node.values[index - 1])
            if JOINT.fullmatch(source.data, before, source.start(value)):
                edits.replace(before, source.end(value), "")
        elif index + 1 < len(node.values):
            after = source.start(node.values[index + 1])
            if JOINT.fullmatch(source.data, source.end(value), after):
                edits.replace(source.start(value), after, "")
