"""`y = x.expand(3, 4).contiguous(); y[0] = 1`: contiguous() copies in torch; without it MindSpore would write into x."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, Texts
from .bindings import Names, is_of_layout


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Name() as name],
                value=ast.Call(func=ast.Attribute(attr="contiguous", value=viewed)) as copied,
            ) if is_of_layout(viewed) and facts.reading.type(viewed).is_tensor and _is_written(facts, name):
                yield AtEnd(partial(_copy, facts, copied))


def _is_written(facts: Facts, name: ast.Name) -> bool:
    """Whether the function assigns to a part of it."""
    names = facts.derived(Names)
    parents = [facts.parents.get(use) for use in names.loads(names.scope(name), name.id)]
    return any(isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store) for each in parents)


def _copy(facts: Facts, copied: ast.Call, texts: Texts) -> Iterator[Edit]:
    yield InsertAfter(copied, ".copy()")
    yield facts.record(copied, "copy that is written to", facts.source.text(copied), texts.of(copied))
