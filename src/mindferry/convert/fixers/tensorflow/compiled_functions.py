"""`@tf.function` goes: MindSpore runs the function as it is, and `ms.jit` is there for what is worth compiling."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...facts import Facts
from ...plan import AtEnd, Change, Edit, RemoveDecorator, Texts, claim_all

IDLE = frozenset({"compat.plain_function", "compat.registered"})


def plan(facts: Facts) -> Iterator[Change]:
    definitions: list[ast.FunctionDef | ast.ClassDef] = [
        *facts.source.of(ast.FunctionDef),
        *facts.source.of(ast.ClassDef),
    ]
    for node in definitions:
        for decorator in node.decorator_list:
            if _is_idle(facts, decorator):
                yield claim_all(decorator)
                yield AtEnd(partial(_remove, facts, decorator))


def _is_idle(facts: Facts, decorator: ast.expr) -> bool:
    entry = facts.rules.get(facts.api(decorator.func if isinstance(decorator, ast.Call) else decorator))
    return entry is not None and entry.to in IDLE


def _remove(facts: Facts, decorator: ast.expr, texts: Texts) -> Iterator[Edit]:
    yield RemoveDecorator(decorator)
    yield facts.record(decorator, "tensorflow.function", facts.source.text(decorator), "")
