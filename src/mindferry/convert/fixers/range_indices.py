"""`x[range(n), labels]`: MindSpore takes no range as an index of a tensor; it becomes `ops.arange`, which may be empty too."""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    for node in context.source.of(ast.Subscript):
        kind = context.reading.type(node.value)
        if not kind.is_tensor and kind.kind != "unknown":
            continue
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if _is_range(part):
                assert isinstance(part, ast.Call)
                _rewrite(context, part, part.func if kind.is_tensor else part)
            elif kind.is_tensor and isinstance(part, ast.Name) and _holds_range(context, part):
                _rewrite(context, part, part)


def _is_range(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and bool(node.args)
    )


def _holds_range(context: Context, name: ast.Name) -> bool:
    """Every assignment of the name in its function gives it a range."""
    scope = context.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef) or context.source.tree
    stores = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Store)
    ]
    owners = [context.parents.get(store) for store in stores]
    return bool(owners) and all(isinstance(owner, ast.Assign) and _is_range(owner.value) for owner in owners)


def _rewrite(context: Context, part: ast.expr, what: ast.expr) -> None:
    """The call's name where the receiver is a tensor; a list, which arrays and tensors both take, where that isn't certain."""
    before = context.source.text(part)
    if what is part:
        context.edits.before(context.source.start(part), "list(")
        context.edits.after(context.source.end(part), ")")
    else:
        context.edits.replace_node(what, context.imports.spell("mindspore.ops.arange"))
    context.rewritten(part, "index by a range", before, context.edits.text(part))


def finish(context: Context) -> None:
    pass
