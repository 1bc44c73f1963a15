"""`device = x.device` goes once nothing reads it: tensors place themselves, and a graph can't ask one where it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, RemoveStatement, ReplaceSpan, Texts

AFTER = (
    "format_tensors",
    "gradients_off",
    "hold_leaf_parameters",
    "in_place",
    "layer_settings",
    "make_leaf_parameters",
    "maps_in_networks",
    "no_counterpart",
    "rename_layer_parameters",
    "torch_modules",
)


def plan(facts: Facts) -> Iterator[Change]:
    yield AtEnd(partial(_write, facts))


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    for node in facts.source.of(ast.Assign):
        target = node.targets[0]
        if len(node.targets) != 1:
            continue
        if isinstance(target, ast.Name) and _is_device(facts, node.value) and is_unread(facts, node, target, texts):
            if len(facts.block_of(node)) > 1:
                yield RemoveStatement(node)
                yield facts.record(node, "device", facts.source.text(node), "")
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(node.value.elts) > 1:
            yield from _shorten(facts, node, target.elts, node.value.elts, texts)


def _shorten(
    facts: Facts, node: ast.Assign, names: list[ast.expr], values: list[ast.expr], texts: Texts
) -> Iterator[Edit]:
    """`b, n, device = *x.shape, x.device` ends one earlier."""
    name, value = names[-1], values[-1]
    if (
        len(names) > 1
        and isinstance(name, ast.Name)
        and _is_device(facts, value)
        and is_unread(facts, node, name, texts)
    ):
        before = facts.source.text(node)
        if len(values) == 2 and isinstance(values[0], ast.Starred):  # `b, n = x.shape`, without the star
            yield ReplaceSpan(facts.source.start(values[0]), facts.source.start(values[0].value), "")
        for elements in (names, values):
            yield ReplaceSpan(facts.source.end(elements[-2]), facts.source.end(elements[-1]), "", swallows=True)
        yield facts.record(node, "device", before, texts.of(node))


def _is_device(facts: Facts, node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "device" and facts.reading.type(node.value).is_tensor


def is_unread(facts: Facts, node: ast.Assign, name: ast.Name, texts: Texts) -> bool:
    """A name that no statement of the function, or of a project's only file, mentions any more."""
    function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    is_shared = function is facts.source.tree and (facts.is_notebook or len(facts.reading.symbols.exports) > 1)
    is_member = isinstance(facts.parents[node], ast.ClassDef)
    if is_shared or is_member or len(facts.source.stored_within(name.id, function)) != 1:
        return False
    source = facts.source
    mentioned = re.compile(rf"(?<![\w.]){re.escape(name.id)}\b(?!\s*=[^=])")
    parts = (
        texts.span(0 if function is source.tree else source.start(function), source.start(node)),
        texts.span(source.end(node), len(source.data) if function is source.tree else source.end(function)),
    )
    return not any(mentioned.search(part) for part in parts)
