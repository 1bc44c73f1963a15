"""`x.add_(y)` becomes `x = x + y`: MindSpore's in-place methods leave the tensor as it was on a CPU, without a word."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...facts import Facts
from ...plan import AtEnd, Change, Keep
from . import write
from .find import find_in_place
from .ways import How

AFTER = ("hold_leaf_parameters", "make_leaf_parameters")


def plan(facts: Facts) -> Iterator[Change]:
    found = facts.derived(find_in_place)
    yield from found.planned
    for change in found.changes:
        yield Keep(change.target)
        if change.how is How.ENTRY and isinstance(change.target, ast.Subscript):
            yield Keep(change.target.value)
            yield Keep(change.target.slice)
        yield AtEnd(partial(write.changed, facts, change))
    for call, receiver in found.flags:
        yield AtEnd(partial(write.flag, facts, call, receiver))
    for node, how in found.statements:
        yield Keep(node.target if isinstance(node, ast.AugAssign) else node.targets[0])
        yield AtEnd(partial(write.statement, facts, node, how))
