"""What the network returns, on both sides: the same names, the same types, the same plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..frameworks.requests import Shortfall
from .golden import Leaf
from .nesting import Opaque, containers, parts

CLOSE = 1e-4  # two numbers that were tensors' before
IsTensor = Callable[[Any], bool]


def compare_structure(
    theirs: Sequence[Leaf], output: Any, is_tensor: IsTensor, is_compiled: bool = False
) -> tuple[list[tuple[str, str]], list[Shortfall]]:
    """(way, what is wrong) for each part that differs, and what could not be told. A compiled network returns no named tuples."""
    ours = dict(parts(output, is_tensor, objects=True))
    expected = {leaf.way: leaf for leaf in theirs if not leaf.container}
    around = {
        leaf.way: "tuple" if is_compiled and leaf.container.startswith("tuple") else leaf.container
        for leaf in theirs
        if leaf.container
    }
    problems: list[tuple[str, str]] = []
    shortfalls: list[Shortfall] = []
    for way, leaf in expected.items():
        if way not in ours:
            if leaf.dtype or leaf.opaque or leaf.value is not None:
                problems.append((way, "the conversion does not return it"))
            else:
                shortfalls.append(_untold(way, "it is None in the reference, and the conversion does not return it"))
        elif leaf.opaque or isinstance(ours[way], Opaque):
            shortfalls.append(_untold(way, f"{leaf.opaque or _kind(ours[way])}: nothing in it can be looked at"))
        elif problem := _problem(leaf, ours[way], is_tensor):
            problems.append((way, problem))
        elif other := _other_type(leaf, ours[way], is_tensor):
            shortfalls.append(_untold(way, f"its type is {other}"))
    for way, value in ours.items():
        if way not in expected and value is not None:
            problems.append((way, "the reference does not return it"))
    shortfalls += _other_containers(around, dict(containers(output, is_tensor)))
    return problems, shortfalls


def _untold(way: str, why: str) -> Shortfall:
    return Shortfall("output", way or "output", "not comparable", why)


def _other_containers(theirs: Mapping[str, str], ours: Mapping[str, str]) -> Iterator[Shortfall]:
    for way in dict.fromkeys((*theirs, *ours)):
        one, other = theirs.get(way, ""), ours.get(way, "")
        if one and other and one != other:
            yield _untold(way, f"a {other}, not a {one}")


def _problem(leaf: Leaf, ours: Any, is_tensor: IsTensor) -> str:
    if is_tensor(ours):
        dtype = str(ours.dtype).lower()
        if not leaf.dtype:
            return f"a tensor, not {leaf.value!r}"
        is_other = dtype != leaf.dtype and not (dtype.startswith("int") and leaf.dtype.startswith("int"))
        return f"{dtype}, not {leaf.dtype}" if is_other else ""
    if leaf.dtype:
        return f"{ours!r}, not a tensor"
    return "" if _is_same(leaf.value, ours) else f"{ours!r}, not {leaf.value!r}"


def _other_type(leaf: Leaf, ours: Any, is_tensor: IsTensor) -> str:
    """Of two equal values: int32 for int64, 1.0 for 1, True for 1."""
    theirs, found = (leaf.dtype, str(ours.dtype).lower()) if is_tensor(ours) else (_kind(leaf.value), _kind(ours))
    return f"{found}, not {theirs}" if found != theirs else ""


def _kind(value: Any) -> str:
    return value.kind if isinstance(value, Opaque) else type(value).__name__


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=1e-7) or (math.isnan(one) and math.isnan(other))
    if isinstance(other, complex):
        return bool(str(other) == one)
    return bool(one == other)


def call_name(path: str, call: int) -> str:
    return (path or "the network") + (f" (call {call + 1})" if call else "")


def are_close(one: Any, other: Any) -> bool:
    """Two plain numbers that were computed."""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (one, other))
    return numbers and math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-7)
