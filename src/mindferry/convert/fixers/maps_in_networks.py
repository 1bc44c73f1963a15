"""`q, k, v = map(lambda t: …, qkv)` in a network becomes a list: a graph's map takes no lambda that reads `self`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceNode, Texts

AFTER = ("format_tensors", "gradients_off", "in_place")


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Tuple() | ast.List()],
                value=ast.Call(
                    func=ast.Name(id="map"),
                    args=[ast.Lambda(args=ast.arguments(args=[only], defaults=[])) as function, values],
                ),
            ) if _is_in_network(facts, node) and not isinstance(values, ast.Starred):
                yield AtEnd(partial(_write, facts, node, function.body, only.arg, values))


def _write(facts: Facts, node: ast.Assign, body: ast.expr, name: str, values: ast.expr, texts: Texts) -> Iterator[Edit]:
    text = f"[{texts.of(body)} for {name} in {texts.of(values)}]"
    yield ReplaceNode(node.value, text)
    yield facts.record(node, "map", facts.source.text(node.value), text)


def _is_in_network(facts: Facts, node: ast.Assign) -> bool:
    owner = facts.enclosing(node, ast.ClassDef)
    return owner is not None and facts.reading.symbols.is_module(facts.reading.owners.get(owner, ""))
