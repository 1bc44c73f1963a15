"""What the network returns, on both sides: the same names, the same types, the same plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..frameworks.requests import Shortfall
from .golden import Leaf
from .nesting import parts

CLOSE = 1e-4  # two numbers that were tensors' before


def compare_structure(
    theirs: Sequence[Leaf], output: Any, is_tensor: Callable[[Any], bool]
) -> tuple[list[tuple[str, str]], list[Shortfall]]:
    """(way, what is wrong) for each part that differs, and what could not be told."""
    ours = dict(parts(output, is_tensor, objects=True))
    expected = {leaf.way: leaf for leaf in theirs}
    problems: list[tuple[str, str]] = []
    shortfalls: list[Shortfall] = []
    for way, leaf in expected.items():
        if way not in ours:
            if leaf.dtype or leaf.value is not None:
                problems.append((way, "the conversion does not return it"))
            continue
        problem = _problem(leaf, ours[way], is_tensor)
        if problem.startswith("int") and leaf.dtype.startswith("int"):
            shortfalls.append(Shortfall("output", way or "output", "not comparable", f"its type is {problem}"))
        elif problem:
            problems.append((way, problem))
    for way, value in ours.items():
        if way not in expected and value is not None:
            problems.append((way, "the reference does not return it"))
    return problems, shortfalls


def _problem(leaf: Leaf, ours: Any, is_tensor: Callable[[Any], bool]) -> str:
    if is_tensor(ours):
        dtype = str(ours.dtype).lower()
        if not leaf.dtype:
            return f"a tensor, not {leaf.value!r}"
        return "" if dtype == leaf.dtype else f"{dtype}, not {leaf.dtype}"
    if leaf.dtype:
        return f"{ours!r}, not a tensor"
    return "" if _is_same(leaf.value, ours) else f"{ours!r}, not {leaf.value!r}"


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-7) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
