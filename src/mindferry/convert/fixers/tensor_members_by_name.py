"""`getattr(x, name)` of a tensor: a device's name moves it nowhere; what else it may be is a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceNode, Texts, claim, claim_all

DEVICES = frozenset({"cpu", "cuda"})


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.calls_named("getattr"):
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, name, *_]) if not isinstance(name, ast.Constant):
                if facts.reading.type(owner).is_tensor:
                    yield from _of_tensor(facts, call, owner, name)


def _of_tensor(facts: Facts, call: ast.Call, owner: ast.expr, name: ast.expr) -> Iterator[Change]:
    outer = facts.parents.get(call)
    if _names_devices(name) and isinstance(outer, ast.Call) and outer.func is call and not outer.args:
        yield claim_all(name)
        yield claim(call, outer)
        yield AtEnd(partial(_write, outer, owner))
    else:
        yield facts.found(
            call,
            findings.MF102,
            f"{facts.source.text(call)}: which of a tensor's members this is can't be told",
            "write the member's name",
            "error",
        )


def _names_devices(name: ast.expr) -> bool:
    """`("cpu", "cuda")[x.is_cuda]`, `"cuda" if use_cuda else "cpu"`."""
    match name:
        case ast.Subscript(value=ast.Tuple(elts=options) | ast.List(elts=options)):
            pass
        case ast.IfExp(body=first, orelse=second):
            options = [first, second]
        case _:
            return False
    return all(isinstance(each, ast.Constant) and each.value in DEVICES for each in options)


def _write(outer: ast.Call, owner: ast.expr, texts: Texts) -> Iterator[Edit]:
    text = texts.of(owner)
    is_plain = isinstance(owner, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    yield ReplaceNode(outer, text if is_plain else f"({text})", swallows=True)
