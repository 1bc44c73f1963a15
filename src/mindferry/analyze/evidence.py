"""Names that must be tensors, since the function uses something of theirs that only tensors have. For what types don't tell."""

from __future__ import annotations

import ast

from ..syntax.torch_types import UNMISTAKABLE

ATTRIBUTES = frozenset(["is_cuda", "requires_grad", "grad"])
METHODS = frozenset(["clone", "size", "byte", "float", "half", "long", "numel", "dim"]) | UNMISTAKABLE  # where they are called


def tensor_names(nodes: list[ast.AST]) -> frozenset[str]:
    """Of one function's nodes. A name that is set from part of a tensor, or from its copy, is one too."""
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    names = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id != "self"
        and (node.attr in ATTRIBUTES or (node.attr in METHODS and node in called))
    }
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="clone" | "flip" | "detach"))):
                names.add(name)
    return frozenset(names)


def root(node: ast.expr) -> str:
    """The name that `x[i][:, a:b]` starts from."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):  # x.flip(0)[:, a:b]
        return root(node.func.value)
    return node.id if isinstance(node, ast.Name) else ""
