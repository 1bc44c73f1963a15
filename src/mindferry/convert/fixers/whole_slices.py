"""`layer.weight[:] = w`: MindSpore makes a view of a parameter that is written so, and no optimizer moves it any more, without a word."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.types import UNKNOWN
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceSpan, Texts
from .bindings import Names
from .in_place.data_attribute import is_parameter

AFTER = ("in_place", "filled_slices", "written_places", "written_views")


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=base, slice=index)]) if is_whole(index):
                if _may_be_parameter(facts, base):
                    yield AtEnd(partial(_write, facts, node, base))


def is_whole(index: ast.expr) -> bool:
    """`[:]`, `[...]`, `[:, :]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return bool(parts) and all(
        isinstance(part, ast.Slice | ast.Constant) and ast.unparse(part) in (":", "...") for part in parts
    )


def _may_be_parameter(facts: Facts, base: ast.expr) -> bool:
    """By its name, or a tensor that was not made in this function; a buffer is a parameter too in MindSpore, and what is unknown is asked."""
    held = base.value if isinstance(base, ast.Attribute) and base.attr == "data" else base
    if is_parameter(held):
        return True
    kind = facts.reading.type(held)
    if isinstance(held, ast.Name):
        return (kind.is_tensor or kind == UNKNOWN) and facts.derived(Names).binding(held).how != "fresh"
    return isinstance(held, ast.Attribute) and kind.is_tensor


def _write(facts: Facts, node: ast.Assign, base: ast.expr, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    text = f"{texts.name('compat.write_whole')}({texts.of(base)}, {texts.of(node.value)})"
    yield ReplaceSpan(source.start(node), source.end(node), text, swallows=True)
    yield facts.record(node, "whole slice", before, text)
