"""Small questions about code: what a function's own names are, what an attribute stands on, what is a hook."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .sources import bound_names

SHORTEST = 5  # letters of a pattern that is looked for
Definition = ast.FunctionDef | ast.AsyncFunctionDef


def attribute_set_by(statement: ast.stmt) -> str:
    """`push` of `Config.push = …` and of `Config.push.__doc__ = …`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    chain = chain_of(statement.targets[0]) if isinstance(statement.targets[0], ast.Attribute) else []
    return next((each for each in reversed(chain[1:]) if not each.startswith("__")), "")


def sets_documentation(statement: ast.stmt) -> bool:
    """`setattr(ResNet50, "__doc__", …)`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value="__doc__"), _])):
            return True
    return False


def pattern_of(node: ast.JoinedStr, shortest: int = SHORTEST) -> re.Pattern[str] | None:
    """The methods that `getattr(self, f"_validate_{kind}_parameters")` may mean; None where the text is no name, or says too little."""
    known = "".join(
        each.value for each in node.values if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )
    if len(known) < shortest or not known.isidentifier():
        return None
    parts = [re.escape(str(each.value)) if isinstance(each, ast.Constant) else r"\w*" for each in node.values]
    return re.compile("".join(parts))


def pattern_of_built(node: ast.AST) -> re.Pattern[str] | None:
    """The same of any text that is put together: also `"assert_sizes_{}".format(kind)` and `"assert_sizes_%s" % kind`."""
    match node:
        case ast.JoinedStr():
            return pattern_of(node)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            parts = re.split(r"\{\w*\}", text)
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            parts = re.split(r"%[sd]", text)
        case _:
            return None
    known = "".join(parts)
    if len(parts) < 2 or len(known) < SHORTEST or not known.isidentifier():
        return None
    return re.compile(r"\w*".join(map(re.escape, parts)))


def is_hook(name: str) -> bool:
    """Called by Python itself, or by huggingface_hub's dataclasses, which look for their validators by name."""
    return (name.startswith("__") and name.endswith("__")) or name.startswith("validate_")


def chain_of(node: ast.Attribute) -> list[str]:
    """['a', 'b', 'c'] of a.b.c; [] where it begins with something else."""
    parts: list[str] = []
    current: ast.expr = node
    while isinstance(current, ast.Attribute):
        parts.append(current.attr)
        current = current.value
    return [current.id, *reversed(parts)] if isinstance(current, ast.Name) else []


def own_names(node: Definition | ast.Lambda) -> frozenset[str]:
    """Arguments and variables; imports are looked at where they stand."""
    found = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    declared: set[str] = set()
    for each in _inside(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, Definition | ast.ClassDef):
            found.add(each.name)
        elif isinstance(each, ast.Global):
            declared.update(each.names)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            found |= bound_names(each)
        elif isinstance(each, ast.ExceptHandler) and each.name:
            found.add(each.name)
    return frozenset(found - declared)


def annotations_of(node: Definition | ast.Lambda) -> list[ast.expr]:
    found = [each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg)]
    if not isinstance(node, ast.Lambda):
        found.append(node.returns)
    return [each for each in found if each is not None]


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Definition | ast.ClassDef | ast.Lambda):
            yield from _inside(child)
