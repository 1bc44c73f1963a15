"""`setattr(module, name, weight)` with a name that only running tells: it may be a parameter that MindSpore calls otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, ReplaceNode, claim


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.calls_named("setattr"):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, value], keywords=[]) if (
                not isinstance(name, ast.Constant) and _may_be_network(facts, owner) and _may_be_parameter(facts, value)
            ):
                yield ReplaceNode(call.func, lambda texts: texts.name("compat.set_by_name"))
                yield claim(call.func)
                yield facts.record(call, facts.framework.network, "setattr", "ms_compat.set_by_name")


def _may_be_network(facts: Facts, owner: ast.expr) -> bool:
    kind = facts.reading.type(owner)
    is_network = kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)
    return is_network or (kind.kind == "unknown" and facts.source.mentions(facts.framework.name))


def _may_be_parameter(facts: Facts, value: ast.expr) -> bool:
    kind = facts.reading.type(value)
    return kind.is_tensor or (
        kind.kind == "unknown" and isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.BinOp)
    )
