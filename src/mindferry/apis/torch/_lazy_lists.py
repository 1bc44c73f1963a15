"""What is read as a list and is none: torch makes a tensor of a range, MindSpore refuses it."""

import ast

from ...read.infer import Reading
from .._call import Call


def is_lazy(call: Call, node: ast.expr) -> bool:
    """`range(3)`, or a name that the file gives one."""
    match node:
        case ast.Call(func=ast.Name(id="range")):
            return True
        case ast.Name(id=name):
            return name in call.reading.once(_ranges)
    return False


def _ranges(reading: Reading) -> set[str]:
    """The names that are given a range somewhere in the file."""
    return {
        target.id
        for made in reading.source.calls_named("range")
        if isinstance(made.func, ast.Name)
        and isinstance(statement := reading.source.parents[made], ast.Assign)
        and statement.value is made
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
