"""`x[torch.where(mask)[0]]`: where a search finds nothing, MindSpore's gradient of it fails on a CPU, and so does `x[found] = y`."""

from __future__ import annotations

import ast
from functools import partial

from ..context import Context

SEARCHES = frozenset(f"torch.{owner}{name}" for owner in ("", "Tensor.") for name in ("where", "nonzero", "argwhere"))
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)


def prepare(context: Context) -> None:
    subscripts = [node for node in context.source.of(ast.Subscript) if isinstance(node.slice, ast.Name)]
    is_likely = subscripts and any(word in context.source.data for word in (b"where", b"nonzero"))
    searched = _searched(context) if is_likely else []
    for node in subscripts if searched else []:
        if (
            not any(_reaches(context, statement, node.slice) for statement in searched)
            or not context.reading.type(node.slice).is_tensor
        ):
            continue
        parent = context.parents.get(node)
        if isinstance(node.ctx, ast.Load):
            context.turns[node] = partial(_take, context, node)
        elif isinstance(parent, ast.Assign) and parent.targets == [node] and isinstance(node.value, ast.Name):
            context.turns[parent] = partial(_put, context, parent, node, node.value.id)


def _searched(context: Context) -> list[ast.Assign]:
    """The assignments of places that were searched for, and of what is computed from such places."""
    found: list[ast.Assign] = []
    for statement in sorted(context.source.of(ast.Assign), key=context.source.start):
        for node in ast.walk(statement.value):
            is_search = (
                isinstance(node, ast.Call)
                and context.api(node.func) in SEARCHES
                and len(node.args) + len(node.keywords) < 3
            )
            if is_search or (isinstance(node, ast.Name) and any(_reaches(context, each, node) for each in found)):
                found.append(statement)
                break
    return found


def _reaches(context: Context, statement: ast.Assign, use: ast.AST) -> bool:
    """Whether the statement gives the name a value, in the same function and above."""
    return (
        isinstance(use, ast.Name)
        and context.source.end(statement) <= context.source.start(use)
        and any(
            isinstance(each, ast.Name) and each.id == use.id for target in statement.targets for each in _parts(target)
        )
        and context.enclosing(statement, *SCOPES) is context.enclosing(use, *SCOPES)
    )


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _take(context: Context, node: ast.Subscript) -> None:
    source, edits, before = context.source, context.edits, context.source.text(node)
    edits.before(source.start(node), f"{context.imports.spell('compat.take_found')}(")
    opening = source.find_token(b"[", source.end(node.value), source.end(node))  # the value may stand in parentheses
    edits.replace(opening, source.start(node.slice), ", ")
    edits.replace(source.end(node.slice), source.end(node), ")")
    context.rewritten(node, "searched places", before, edits.text(node))


def _put(context: Context, node: ast.Assign, target: ast.Subscript, name: str) -> None:
    source, edits, before = context.source, context.edits, context.source.text(node)
    opening = f"{name} = {context.imports.spell('compat.put_found')}({name}, {edits.text(target.slice)}, "
    edits.replace(source.start(node), source.start(node.value), opening)
    edits.after(source.end(node.value), ")")
    context.rewritten(node, "searched places", before, edits.text(node))


def finish(context: Context) -> None:
    pass
