"""A graph that was begun elsewhere: by another method, which left it on `self`, or by the caller, who passes it in."""

from __future__ import annotations

import ast

from ...context import Context
from .. import stopped
from . import flow, sources

MARK = "was computed elsewhere, with a graph that can't be seen from here"
ADVICE = (
    "compute the loss and what it depends on in one function and differentiate that: "
    "`def forward_fn(x, y): out = model(x); return criterion(out, y)`, "
    "`loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(x, y)`"
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def begun_elsewhere(context: Context, loss: ast.expr, lifted: list[ast.stmt], scope: ast.AST) -> str:
    """Which value of the loss brings a graph from outside of this function, naming the line; '' if none does."""
    if not isinstance(scope, FUNCTIONS):
        return ""
    read = {name for part in (*lifted, loss) for name in flow.reads(part, with_gradient=True)}
    own = set().union(*(flow.writes(each) for each in lifted)) if lifted else set()
    owner = context.enclosing(scope, ast.ClassDef)
    if owner is not None:
        left = _left_on_self(context, owner, scope)
        for name in sorted((read - own) & set(left)):
            return f"{name} (line {left[name]}) {MARK}"
    arguments = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)]
    for name in arguments:
        line = _passed_in(context, scope, name) if name in read and not _is_set(scope, name) else 0
        if line:
            return f"{name}, as line {line} passes it, {MARK}"
    return ""


def _left_on_self(context: Context, owner: ast.AST, scope: ast.AST) -> dict[str, int]:
    """`self.out = self.net(x)` in the other methods: attribute -> line."""
    found: dict[str, int] = {}
    methods = [
        each
        for each in ast.iter_child_nodes(owner)
        if isinstance(each, FUNCTIONS) and each is not scope and each.name != "__init__"
    ]
    for _ in range(3):  # an attribute may be computed from another one
        for method in methods:
            if stopped.is_without_gradients(context, method):
                continue
            carrying = set(found)
            for statement in _statements(method):
                if isinstance(statement, ast.With) and flow.is_cut(statement):
                    continue
                value = getattr(statement, "value", None)
                if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) or value is None:
                    continue
                if sources.carries(context, value) or flow.reads(value, with_gradient=True) & carrying:
                    written = {name for name in flow.writes(statement) if not _is_object(context, statement, name)}
                    carrying |= written
                    found |= {
                        name: statement.lineno for name in written if name.startswith("self.") and name not in found
                    }
                elif isinstance(statement, ast.Assign):
                    carrying -= flow.writes(statement)
    return found


def _statements(method: ast.AST) -> list[ast.stmt]:
    """In the order of the text, without what stands under no_grad."""
    found: list[ast.stmt] = []
    stack = [each for each in reversed(list(ast.iter_child_nodes(method))) if isinstance(each, ast.stmt)]
    while stack:
        statement = stack.pop()
        if isinstance(statement, FUNCTIONS) or flow.is_cut(statement):
            continue
        found.append(statement)
        parts = (each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt | ast.ExceptHandler))
        stack += reversed(list(parts))  # type: ignore[arg-type]
    return found


def _is_object(context: Context, statement: ast.stmt, name: str) -> bool:
    """A network, an optimizer: no tensor."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and flow.key(node) == name:
            return context.reading.type(node).kind in stopped.NUMBERS
    return False


def _is_set(scope: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in ast.walk(scope)
    )


def _passed_in(context: Context, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> int:
    """The line of a call in this file whose argument carries a graph; 0 if none does."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    is_method = bool(names) and names[0] == "self"
    for call in context.source.of(ast.Call):
        called = (
            call.func.attr
            if isinstance(call.func, ast.Attribute)
            else call.func.id
            if isinstance(call.func, ast.Name)
            else ""
        )
        if called != function.name or isinstance(call.func, ast.Attribute) != is_method:
            continue
        position = names.index(name) - is_method if name in names else -1
        given = [key.value for key in call.keywords if key.arg == name]
        given += [call.args[position]] if 0 <= position < len(call.args) else []
        if any(_brings_graph(context, call, each) for each in given):
            return call.lineno
    return 0


def _brings_graph(context: Context, call: ast.Call, given: ast.expr) -> bool:
    if context.reading.type(given).kind in stopped.NUMBERS:
        return False
    if sources.carries(context, given):
        return True
    statement = context.statement_of(call)
    scope = context.enclosing(statement, *FUNCTIONS) or context.source.tree
    carrying: set[str] = set()
    for each in _statements(scope):
        if each.lineno >= statement.lineno:
            break
        if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) and each.value is not None:
            if sources.carries(context, each.value) or flow.reads(each.value, with_gradient=True) & carrying:
                carrying |= {written for written in flow.writes(each) if not _is_object(context, each, written)}
            elif isinstance(each, ast.Assign):
                carrying -= flow.writes(each)
    return bool(flow.reads(given, with_gradient=True) & carrying)
