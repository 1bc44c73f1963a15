"""`torch.ones(3, dtype=bool)`, `x.to(float)`: torch takes Python's types for its own, MindSpore doesn't."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import Change, ReplaceNode, Texts
from .data_arrays import data_zones

TYPES = {"builtins.bool": "bool_", "builtins.int": "int64", "builtins.float": "float64"}
CASTS = frozenset(("to", "type"))


def plan(facts: Facts) -> Iterator[Change]:
    found = [
        each for call in facts.source.of(ast.Call) if call.keywords or _is_cast(call) for each in _types(facts, call)
    ]
    zones = {part for zone in facts.derived(data_zones) for part in zone} if found else set()
    for node in found:
        if not facts.is_within_any(node, zones):
            name = TYPES[facts.reading.type(node).qual]
            yield ReplaceNode(node, partial(_spelled, f"mindspore.{name}"))
            yield facts.record(node, "type of Python's", facts.source.text(node), f"ms.{name}")


def _spelled(name: str, texts: Texts) -> str:
    return texts.name(name)


def _types(facts: Facts, call: ast.Call) -> Iterator[ast.expr]:
    function = call.func
    given = [key.value for key in call.keywords if key.arg == "dtype"]
    is_cast = _is_cast(call)
    if not given and not is_cast:
        return
    is_method = isinstance(function, ast.Attribute) and facts.reading.type(function.value).is_tensor
    if not is_method and not facts.api(function).startswith(f"{facts.framework.name}."):
        return
    if is_method and is_cast:
        given += call.args[:1]
    yield from (each for each in given if facts.reading.type(each).kind == "ref" and _is_type(facts, each))


def _is_cast(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in CASTS


def _is_type(facts: Facts, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and facts.reading.type(node).qual in TYPES
