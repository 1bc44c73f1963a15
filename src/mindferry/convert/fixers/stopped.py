"""What `torch.no_grad` cut off from gradients, in a function that a loss may be computed by: `ops.stop_gradient` says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.framework import Role
from ..context import Context

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NUMBERS = frozenset(
    "int float bool str none instance ref module ndarray size dtype device".split()
)  # kinds without a gradient


def after_block(context: Context, node: ast.With, switch: ast.expr) -> None:
    """The names that the block sets and others read; what it returns."""
    region = _region(context, node)
    stop = chosen(context, switch) or _switched(context, switch)
    if region is None or not stop:
        return
    inside = set(ast.walk(node))
    for statement in inside:
        if isinstance(statement, ast.Return):
            _stop_return(context, statement, stop)
    read = {
        each.id
        for each in ast.walk(region)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each not in inside
    }
    for statement in inside:
        if isinstance(statement, ast.Assign | ast.AugAssign):
            _stop_assignment(context, statement, read, stop)


def in_function(context: Context, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """`@torch.no_grad()`: what the function returns."""
    if not _is_driver(context, function):
        for statement in _own(function):
            if isinstance(statement, ast.Return):
                _stop_return(context, statement, "{stop}")


def chosen(context: Context, switch: ast.expr) -> str:
    """How `with torch.no_grad() if frozen else nullcontext()` cuts a value off, also by way of a variable; '' if it doesn't."""
    if isinstance(switch, ast.Name):
        scope = context.enclosing(switch, *FUNCTIONS) or context.source.tree
        values = [
            each.value
            for each in ast.walk(scope)
            if isinstance(each, ast.Assign) and _is_name(each.targets[0], switch.id)
        ]
        if len(values) != 1:
            return ""
        switch = values[0]
        if _is_off(context, switch):
            return _switched(context, switch)
    if not isinstance(switch, ast.IfExp) or _is_off(context, switch.body) == _is_off(context, switch.orelse):
        return ""
    text = context.edits.text(switch.test)
    return (
        f"{{stop}} if {text} else {{value}}" if _is_off(context, switch.body) else f"{{value}} if {text} else {{stop}}"
    )


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_off(context: Context, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and context.api(node.func).endswith((".no_grad", ".inference_mode"))


def is_without_gradients(context: Context, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Decorated by no_grad."""
    marks = [context.api(each.func if isinstance(each, ast.Call) else each) for each in function.decorator_list]
    return any(mark.endswith(("no_grad", "inference_mode")) for mark in marks)


def _region(context: Context, node: ast.With) -> ast.AST | None:
    """The part of the program that may be differentiated as a whole: a function; where a backward() stands, a loop without it.

    Or the block itself, where it works on what a network of the same loss gave.
    """
    scope = context.enclosing(node, *FUNCTIONS) or context.source.tree
    if not trains(scope):
        return None if scope is context.source.tree or _is_driver(context, scope) else scope
    if _works_on_graph(context, node, scope):
        return scope
    found, current = None, context.parents.get(node)
    while current is not None and current is not scope and not trains(current):
        found = current if isinstance(current, ast.For | ast.While) else found
        current = context.parents.get(current)
    return found


def _works_on_graph(context: Context, node: ast.With, scope: ast.AST) -> bool:
    from .training import flow, sources

    inside = set(ast.walk(node))
    read = flow.reads(node) - {name for each in node.body for name in flow.writes(each)}
    makers = [
        each
        for each in ast.walk(scope)
        if isinstance(each, ast.Assign) and each not in inside and flow.writes(each) & read
    ]
    return any(
        context.reading.type(target).kind not in NUMBERS
        and flow.key(target) in read
        and sources.carries(context, each.value)
        for each in makers
        for target in ast.walk(each)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    )


def trains(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "backward" for each in ast.walk(node))


def _is_driver(context: Context, function: ast.AST) -> bool:
    """It evaluates (goes through a loader, switches a network's mode), initialises or updates. No loss is computed by calling it."""
    name, owner = getattr(function, "name", ""), context.enclosing(function, ast.ClassDef)
    role = context.reading.symbols.role(context.reading.owners.get(owner, "")) if owner is not None else Role.NONE
    if role in (Role.OPTIMIZER, Role.SCHEDULER) or (name.endswith("_") and not name.endswith("__")):
        return True
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr == "eval" and isinstance(context.parents.get(node), ast.Call):
            return True
        if isinstance(node, ast.For) and any("loader" in word or "dataset" in word for word in _words(node.iter)):
            return True
    return False


def _words(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        yield str(getattr(each, "id", getattr(each, "attr", ""))).lower()


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """What it consists of, without the functions inside it."""
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            stack.extend(ast.iter_child_nodes(node))


def _stop_assignment(context: Context, statement: ast.Assign | ast.AugAssign, read: set[str], stop: str) -> None:
    """The value, if a name that others read gets it. `y = x` makes no new tensor, so x keeps its gradient in torch too."""
    target, value = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0], statement.value
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [
        part
        for part in parts
        if isinstance(part, ast.Name) and part.id in read and context.reading.type(part).kind not in NUMBERS
    ]
    is_written_here = context.source.start(value) >= context.source.end(
        target
    )  # not an in-place method, which is bound again
    if (
        not names
        or not is_written_here
        or target in context.captured
        or isinstance(value, ast.Name | ast.Attribute | ast.Constant)
    ):
        return
    _wrap(context, value, context.reading.type(value).is_tensor, stop)


def _switched(context: Context, switch: ast.expr) -> str:
    """How a value is cut off, `{stop}` being the cut: always, never (''), or by the flag of set_grad_enabled and inference_mode."""
    if not isinstance(switch, ast.Call) or not (switch.args or switch.keywords):
        return "{stop}"
    is_enabling = context.api(switch.func).endswith("set_grad_enabled")
    flag = switch.args[0] if switch.args else switch.keywords[0].value
    if isinstance(flag, ast.Constant):
        return "" if bool(flag.value) == is_enabling else "{stop}"
    text = context.edits.text(flag)
    return f"{{value}} if {text} else {{stop}}" if is_enabling else f"{{stop}} if {text} else {{value}}"


def _wrap(context: Context, value: ast.expr, is_tensor: bool, stop: str) -> None:
    function = context.imports.spell("mindspore.ops.stop_gradient" if is_tensor else "compat.detached")
    if stop == "{stop}":
        context.edits.before(context.source.start(value), f"{function}(")
        context.edits.after(context.source.end(value), ")")
    else:
        text = context.edits.text(value)
        context.edits.replace_node(value, stop.replace("{stop}", f"{function}({text})").replace("{value}", f"({text})"))


def _stop_return(context: Context, statement: ast.Return, stop: str) -> None:
    value = statement.value
    for part in value.elts if isinstance(value, ast.Tuple) else [value]:
        if part is None or (
            isinstance(part, ast.Name | ast.Attribute | ast.Constant | ast.Starred) and not _is_computed(context, part)
        ):
            continue
        kind = context.reading.type(part)
        if kind.kind in NUMBERS or (
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "item"
        ):
            continue
        _wrap(context, part, kind.is_tensor, stop)


def _is_computed(context: Context, node: ast.expr) -> bool:
    """A local name; an argument or an attribute keeps its gradient."""
    scope = context.enclosing(node, *FUNCTIONS)
    return (
        isinstance(node, ast.Name)
        and scope is not None
        and any(
            isinstance(each, ast.Name) and each.id == node.id and isinstance(each.ctx, ast.Store)
            for each in ast.walk(scope)
        )
    )
