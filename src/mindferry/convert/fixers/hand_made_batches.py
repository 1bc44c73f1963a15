"""`collate([dataset[0]])`: a collate function works on arrays for its loader; torch's code that calls it itself goes on with tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.framework import Role
from ...read.guesses import looks_like_collate
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore
from .data_arrays import data_zones, given_as_collate


def plan(facts: Facts) -> Iterator[Change]:
    calls = [node for node in facts.source.of(ast.Call) if _makes_batch(facts, node)]
    zones = {part for zone in facts.derived(data_zones) for part in zone} if calls else set()
    for node in calls:
        if facts.is_within_any(node, zones):
            continue
        yield InsertBefore(node.func, lambda texts: f"{texts.name('compat.with_tensors_back')}(")
        yield InsertAfter(node.func, ")")
        yield facts.record(node, "dataset", facts.source.text(node.func), "with_tensors_back(…)")


def _makes_batch(facts: Facts, node: ast.Call) -> bool:
    """A call of a function, or of an object's __call__, of the project's that a loader makes batches by, of tensors."""
    kind, symbols = facts.reading.type(node.func), facts.reading.symbols
    qual = symbols.origin(kind.qual)
    is_class = qual in symbols.classes
    if kind.kind == "method":
        home, _, name = kind.qual.rpartition(".")
        return symbols.role(home) is Role.DATASET and home in symbols.computing and looks_like_collate(name)
    if kind.kind == "instance":
        is_run = is_class and symbols.method(qual, "__call__") is not None and symbols.role(qual) is not Role.DATASET
    else:
        is_run = kind.kind in ("ref", "value") and not is_class and symbols.is_local(qual)
    name = qual.rpartition(".")[2]
    if not is_run or qual not in symbols.computing or symbols.is_module(qual):
        return False
    return looks_like_collate(name) or name in facts.derived(given_as_collate) | symbols.collates
