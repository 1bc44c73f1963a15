"""What is read as a list and is none: torch makes a tensor of a range, MindSpore refuses it."""

import ast

from ...read.types import RANGE
from .._call import Call


def is_lazy(call: Call, node: ast.expr) -> bool:
    """`range(3)`, or whatever may hold one: a name, what a function of the project returns."""
    return call.reading.type(node).qual == RANGE
