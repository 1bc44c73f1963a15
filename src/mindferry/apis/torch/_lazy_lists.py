"""What is read as a list and is none: torch makes a tensor of a range, MindSpore refuses it."""

import ast

from .._call import Call


def is_lazy(call: Call, node: ast.expr) -> bool:
    """`range(3)`, or a name that the file gives one."""
    match node:
        case ast.Call(func=ast.Name(id="range")):
            return True
        case ast.Name(id=name):
            bound = (each for each in call.reading.source.of(ast.Assign) if isinstance(each.value, ast.Call))
            return any(
                isinstance(target, ast.Name) and target.id == name and is_lazy(call, each.value)
                for each in bound
                for target in each.targets
            )
    return False
