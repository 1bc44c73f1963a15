"""`for s in kept: s += d`, where nothing tells what `kept` holds: a tensor there is written to, as torch does, and anything else is as Python has it.

Only where the name is not read afterwards, so that the statement is there for what the container sees, or where a tensor is added.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, ReplaceSpan, Texts
from .bindings import Names
from .data_arrays import is_in_data
from .in_place.ways import is_in_forward

AFTER = ("in_place",)
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name):
        return
    for node in facts.source.of(ast.AugAssign):
        if isinstance(node.target, ast.Name) and type(node.op) in SIGNS and _is_taken_out(facts, node, node.target):
            is_read = _is_read_below(facts, node, node.target.id)
            if not is_read or _is_of_tensors(facts, node.value):
                yield AtEnd(partial(_write, facts, node, node.target.id, is_read))


def _is_taken_out(facts: Facts, node: ast.AugAssign, name: ast.Name) -> bool:
    """Whether the name holds what a container gave, and nobody knows what that is."""
    if facts.reading.type(name).kind != "unknown" or is_in_data(facts, name) or is_in_forward(facts, name):
        return False
    if facts.derived(Names).binding(name).how != "shared":
        return False
    around = facts.enclosing(node, ast.For, ast.FunctionDef, ast.AsyncFunctionDef)
    named = facts.source.named_within(name.id, around) if around is not None else []
    stores = [each for each in named if isinstance(each.ctx, ast.Store)]
    return any(not isinstance(facts.parents.get(each), ast.AugAssign) for each in stores)


def _is_read_below(facts: Facts, node: ast.AugAssign, name: str) -> bool:
    around = facts.enclosing(node, ast.For, ast.FunctionDef, ast.AsyncFunctionDef)
    assert around is not None
    uses = (each for each in facts.source.named_within(name, around) if isinstance(each.ctx, ast.Load))
    return any(facts.source.start(each) > facts.source.end(node) for each in uses)


def _is_of_tensors(facts: Facts, value: ast.expr) -> bool:
    parts = (each.attr for each in facts.source.walk(value) if isinstance(each, ast.Attribute))
    return facts.reading.type(value).is_tensor or any(part in ("data", "grad") for part in parts)


def _write(facts: Facts, node: ast.AugAssign, name: str, is_read: bool, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    call = f"{texts.name('compat.augmented')}({name}, '{SIGNS[type(node.op)]}', "
    opening = f"{name} = {call}" if is_read else call
    yield ReplaceSpan(source.start(node), source.start(node.value), opening, swallows=True)
    yield InsertAfter(node, ")")
    yield facts.record(node, "in place", before, texts.of(node))
