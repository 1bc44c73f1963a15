"""A parameter must own its memory: one that is given a view of another tensor trains nothing, or Assign refuses it."""

from __future__ import annotations

import ast

# Functions and methods whose result is new memory.
FRESH = frozenset(
    "zeros ones full empty eye rand randn randint normal uniform standard_normal arange linspace logspace tensor Tensor "
    "from_numpy zeros_like ones_like full_like rand_like randn_like initializer copy deepcopy clone as_tensor".split()
)

SHARING = frozenset(
    ("from_numpy", "as_tensor")
)  # new to MindSpore, and numpy's memory: torch's Parameter shares it too


def owned(text: str, is_copy: bool = False) -> str:
    """The converted expression, copied unless what it computes is certainly new; `is_copy`: and nobody else's."""
    try:
        node = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return text
    match node:
        case ast.BinOp() | ast.UnaryOp() | ast.Constant():
            return text
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in (
            FRESH - SHARING if is_copy else FRESH
        ):
            return text
        case ast.Name() | ast.Attribute() | ast.Call() | ast.Subscript():
            return f"{text}.copy()" if "\n" not in text else f"({text}).copy()"
    return f"({text}).copy()"
