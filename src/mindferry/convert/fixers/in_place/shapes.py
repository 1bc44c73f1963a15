"""Whether what is copied into a parameter may be smaller than it: `set_data` would change the parameter's shape without a word."""

from __future__ import annotations

import ast

from ....read.walk import walk_again as walk
from ...facts import Facts
from ..bindings import Names

REDUCING = frozenset(
    "sum mean std var max min amax amin prod median quantile norm item logsumexp var_mean std_mean".split()
)
DEPTH = 4  # names of names


def may_have_another_shape(facts: Facts, value: ast.expr, depth: int = DEPTH) -> bool:
    """Whether a reduction, or a tensor of one number, leads to it. Another parameter's values and a checkpoint's have its shape."""
    if isinstance(value, ast.Call) and value.args and isinstance(value.args[0], ast.Constant | ast.UnaryOp):
        return True  # torch.tensor(2.0)
    for part in walk(value):
        if isinstance(part, ast.Call) and getattr(part.func, "attr", getattr(part.func, "id", "")) in REDUCING:
            return True
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and depth:
            given = facts.derived(Names).values(part)
            if any(may_have_another_shape(facts, each, depth - 1) for each in given):
                return True
    return False
