"""`for m in net.modules()` becomes `for _, m in net.cells_and_names()`; elsewhere the rule writes a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, InsertBefore, ReplaceSpan, claim


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.For):
        match node:
            case ast.For(
                target=ast.Name() as target,
                iter=ast.Call(func=ast.Attribute(attr="modules") as method, args=[], keywords=[]) as call,
            ):
                receiver = facts.reading.type(method.value)
                if receiver.kind == "instance" and facts.reading.symbols.is_module(receiver.qual):
                    yield from _rewrite(facts, target, call, method)


def _rewrite(facts: Facts, target: ast.Name, call: ast.Call, method: ast.Attribute) -> Iterator[Change]:
    source = facts.source
    yield InsertBefore(target, "_, ")
    yield ReplaceSpan(source.end(method) - len(b"modules"), source.end(method), "cells_and_names")
    yield facts.record(call, facts.framework.of_network("modules"), source.text(call), lambda texts: texts.of(call))
    yield claim(call, method)
