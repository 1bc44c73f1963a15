"""A tensor that one of MindSpore's initializers fills."""

import ast
import re

from ..._call import Call

HOME = "mindspore.common.initializer"


def is_path(node: ast.expr) -> bool:
    """A name with attributes and subscripts: can be written twice."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name)


def is_looked_up(target: str) -> bool:
    """Whether a helper finds the parameter: `ms_compat.layer_parameter(m, "weight")`."""
    return re.search(r"\w\(", target) is not None


def filled(call: Call, build: str, target: str) -> str:
    return f"{call.name(f'{HOME}.initializer')}({build}, {target}.shape, {target}.dtype)"


def bound_on_both_sides(call: Call, low: str, high: str) -> str | None:
    """`Uniform(0.1)` draws from -0.1 to 0.1; None where the bounds are not each other's opposite."""
    match call.given.get(low), call.given.get(high):
        case ast.UnaryOp(op=ast.USub(), operand=below), above if above is not None and is_path_or_number(below):
            if ast.dump(below) == ast.dump(above):
                return f"{call.name(f'{HOME}.Uniform')}({call.of(above)})"
    return None


def is_path_or_number(node: ast.expr) -> bool:
    return is_path(node) or isinstance(node, ast.Constant)
