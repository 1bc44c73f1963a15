"""What is a shape although nobody knows of what: torch.Tensor(x.shape) makes memory of that size, where a tuple would be its values."""

from __future__ import annotations

import ast

from ...read.selections import assigned_values
from .._call import Call


def is_size(call: Call, node: ast.expr, depth: int = 3) -> bool:
    """A torch.Size, by what is known or by how it is written: `x.size()`, `y["k"].shape[:2]`, `x.shape[:-1] + (4,)`."""
    if isinstance(node, ast.Call) and call.reading.type(node.func).qual == "torch.Size":
        return True
    known = call.reading.type(node).kind
    if known != "unknown" or not depth:
        return known == "size"
    match node:
        case ast.Attribute(attr="shape", value=owner):
            return call.reading.type(owner).kind == "unknown"
        case ast.Call(func=ast.Attribute(attr="size"), args=[], keywords=[]):
            return True
        case ast.Subscript(value=whole, slice=ast.Slice()):
            return is_size(call, whole, depth)
        case ast.BinOp(left=left, op=ast.Add()):
            return is_size(call, left, depth)
        case ast.Name():
            given = list(assigned_values(call.reading, node))
            return bool(given) and all(is_size(call, each, depth - 1) for each in given)
    return False
