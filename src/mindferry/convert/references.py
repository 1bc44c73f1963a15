"""What stands for a name of the framework's that is not called: a class as a value, a base class, an annotation."""

from __future__ import annotations

import ast

from ..apis import Rule
from ..apis._lookup import api_of
from .context import Context


def target_of_reference(node: ast.Attribute | ast.Name, api: str, entry: Rule, context: Context) -> str:
    """The dotted name that takes its place; '' if there is none."""
    if _is_base(node, context):
        return entry.base or ("" if entry.is_group else entry.like or entry.to)
    if api == context.framework.tensor and context.framework.tensor_maker and _is_made_later(node, context):
        return context.framework.tensor_maker
    if entry.is_group and not _is_tested(node, context):
        network = context.rules.get(context.framework.network)
        return network.to if network is not None and _is_annotation(node, context) else entry.like
    is_type = isinstance(context.parents.get(node), ast.ClassDef) or is_type_position(node, context)
    if is_type and entry.to and not entry.to.startswith("compat."):
        return entry.to
    return entry.like or entry.to


def _is_tested(node: ast.AST, context: Context) -> bool:
    """Given to isinstance or issubclass, alone or in a tuple."""
    parent = context.parents.get(node)
    while isinstance(parent, ast.Tuple | ast.IfExp):
        parent = context.parents.get(parent)
    return isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in ("isinstance", "issubclass")


def _is_annotation(node: ast.AST, context: Context) -> bool:
    """An annotation, or a part of a type that is built: `Type[X]`, `X | None`."""
    parent = context.parents.get(node)
    is_part = (isinstance(parent, ast.Subscript) and parent.slice is node) or (
        isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.BitOr)
    )
    return is_part or is_type_position(node, context)


def _is_base(node: ast.AST, context: Context) -> bool:
    parent = context.parents.get(node)
    return isinstance(parent, ast.ClassDef) and node in parent.bases


def _is_made_later(node: ast.AST, context: Context) -> bool:
    """Whether a class is handed on to be called: `Tensor = X.cuda.FloatTensor if cuda else X.Tensor`, `defaultdict(X.Tensor)`."""
    parent = context.parents.get(node)
    if isinstance(parent, ast.IfExp):
        other = parent.orelse if parent.body is node else parent.body
        found = api_of(other, context.reading, context.rules).api if isinstance(other, ast.Attribute | ast.Name) else ""
        return node is not parent.test and found in context.framework.annotations
    if isinstance(parent, ast.Call):
        called = getattr(parent.func, "id", getattr(parent.func, "attr", ""))
        return called in ("map", "defaultdict") and parent.args[:1] == [node]
    return False


def is_type_position(node: ast.AST, context: Context) -> bool:
    """An annotation, or the second argument of isinstance: the class is named, not built."""
    current: ast.AST = node
    while isinstance(
        parent := context.parents.get(current),
        ast.expr | ast.arg | ast.AnnAssign | ast.FunctionDef | ast.AsyncFunctionDef,
    ):
        if isinstance(parent, ast.Call):
            name = getattr(parent.func, "id", "")
            return name in ("isinstance", "issubclass") and current in parent.args[1:]
        if isinstance(parent, ast.arg | ast.AnnAssign):
            return current is parent.annotation
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
            return current is parent.returns
        current = parent
    return False
