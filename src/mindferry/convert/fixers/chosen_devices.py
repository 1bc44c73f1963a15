"""`device = torch.device("cuda" if torch.cuda.is_available() else "cpu")` goes where nothing is left that reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, RemoveStatement, Texts
from .unused_devices import is_unread

AFTER = ("remove_idle_statements",)


def plan(facts: Facts) -> Iterator[Change]:
    yield AtEnd(partial(_write, facts))


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    for node in facts.source.of(ast.Assign):
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Name) or not _is_choice(facts, node.value):
            continue
        if len(facts.block_of(node)) > 1 and is_unread(facts, node, target, texts):
            yield RemoveStatement(node)


def _is_choice(facts: Facts, node: ast.expr) -> bool:
    """`torch.device("cuda:0")`, `"cuda" if torch.cuda.is_available() else "cpu"`, or the one of the other."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            is_asked = isinstance(test, ast.Name | ast.Attribute) or (
                isinstance(test, ast.Call) and facts.api(test.func).endswith(".is_available")
            )
            return is_asked and all(isinstance(e, ast.Constant) or _is_choice(facts, e) for e in (body, orelse))
        case ast.Call(func=function, args=[given], keywords=[]):
            return (
                facts.framework.has(facts.api(function))
                and facts.api(function).endswith(".device")
                and _is_fixed(facts, given)
            )
    return False


def _is_fixed(facts: Facts, given: ast.expr) -> bool:
    return isinstance(given, ast.Constant) or (isinstance(given, ast.IfExp) and _is_choice(facts, given))
