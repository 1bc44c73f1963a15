"""`row = x[0]; row[mask] = 0`: an index by tensor gives what it writes to other memory in MindSpore, so views must be written to as a whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceSpan, Texts
from . import written_views
from .bindings import Names
from .in_place.holders import views
from .in_place.ways import is_written_through, may_record_gradients

AFTER = ("in_place", "written_views")


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name() as base, slice=index)]) if _is_by_tensor(
                facts, index
            ):
                if facts.reading.type(base).is_tensor and _is_seen_by_others(facts, base):
                    yield AtEnd(partial(_write, facts, node, base, index))


def _is_by_tensor(facts: Facts, index: ast.expr) -> bool:
    """Slices can't be given to a function as they stand, and a place of plain numbers writes to the memory that is there."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if any(isinstance(part, ast.Slice) for part in parts):
        return False
    return any(facts.reading.type(part).kind in ("tensor", "list", "ndarray") for part in parts)


def _is_seen_by_others(facts: Facts, base: ast.Name) -> bool:
    names = facts.derived(Names)
    if may_record_gradients(facts, base) or written_views.is_written_back(facts, base):
        return False
    return is_written_through(facts, names, base, names.binding(base)) or any(views(facts, names, base))


def _write(facts: Facts, node: ast.Assign, base: ast.Name, index: ast.expr, texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    place = texts.of(index)
    place = f"({place})" if isinstance(index, ast.Tuple) and not place.startswith("(") else place
    text = f"{texts.name('compat.write_at')}({base.id}, {place}, {texts.of(node.value)})"
    yield ReplaceSpan(source.start(node), source.end(node), text, swallows=True)
    yield facts.record(node, "written place", before, text)
