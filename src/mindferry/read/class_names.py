"""What a layer is, told by its class's name: `classname = m.__class__.__name__; if classname.find("Conv") != -1:`."""

from __future__ import annotations

import ast

from .source import Source

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def words_about(source: Source, node: ast.Attribute) -> set[str]:
    """Parts of class names, one of which the owner of `m.weight` has for certain where it stands; none where nothing tells."""
    if not isinstance(node.value, ast.Name):
        return set()
    inner: ast.AST = node
    while (outer := source.parents.get(inner)) is not None and not isinstance(outer, FUNCTIONS):
        if isinstance(outer, ast.If) and inner in outer.body and (found := _words(source, outer.test, node.value.id)):
            return found
        inner = outer
    return set()


def _words(source: Source, test: ast.expr, owner: str) -> set[str]:
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            return next((found for each in parts if (found := _words(source, each, owner))), set())
        case ast.BoolOp(op=ast.Or(), values=parts):
            options = [_words(source, each, owner) for each in parts]
            return set().union(*options) if all(options) else set()
        case ast.Compare(
            left=ast.Call(func=ast.Attribute(value=named, attr="find"), args=[ast.Constant(value=str(word))]),
            ops=[ast.NotEq() | ast.Gt()],
            comparators=[ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))],
        ):
            return {word} if _is_class_name(source, named, owner) else set()
        case ast.Compare(left=ast.Constant(value=str(word)), ops=[ast.In()], comparators=[named]):
            return {word} if _is_class_name(source, named, owner) else set()
    return set()


def _is_class_name(source: Source, named: ast.expr, owner: str) -> bool:
    """`m.__class__.__name__`, `type(m).__name__`, or a name that is given nothing else."""
    match named:
        case ast.Name(id=name):
            values = [each.value for each in source.assigned.get(name, ())]
            return bool(values) and all(
                not isinstance(v, ast.Name) and _is_class_name(source, v, owner) for v in values
            )
        case ast.Attribute(attr="__name__", value=ast.Attribute(attr="__class__", value=ast.Name(id=asked))):
            return asked == owner
        case ast.Attribute(attr="__name__", value=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=asked)])):
            return asked == owner
    return False


def words_asked_for(source: Source, class_name: ast.expr) -> set[str] | None:
    """The words that `classname = m.__class__.__name__` is searched for; None where it is used for anything else."""
    parent = source.parents.get(class_name)
    if not (isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name)):
        return None
    found = set()
    for node in source.named.get(parent.targets[0].id, ()):
        if not isinstance(node.ctx, ast.Load):
            continue
        match outer := source.parents.get(node):
            case ast.Attribute(attr="find"):
                outer = source.parents.get(outer)
        match outer:
            case (
                ast.Call(args=[ast.Constant(value=str(word))])
                | ast.Compare(left=ast.Constant(value=str(word)), ops=[ast.In()])
            ):
                found.add(word)
            case _:
                return None
    return found
