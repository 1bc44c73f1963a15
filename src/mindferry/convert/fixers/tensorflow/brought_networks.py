"""Networks of keras.applications that the project brings along: from now on they stand in its own folder."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from .... import findings
from ...facts import Facts
from ...plan import AtEnd, Change, Edit, ReplaceNode, Texts, claim

FETCHED = "imagenet"  # what a network's `weights` are, unless it is told otherwise


def plan(facts: Facts) -> Iterator[Change]:
    ported = facts.reading.symbols.ported
    if not ported:
        return
    nodes: list[ast.Name | ast.Attribute] = [*facts.source.of(ast.Name), *facts.source.of(ast.Attribute)]
    for node in nodes:
        place = ported.get(facts.api(node)) if isinstance(node.ctx, ast.Load) else None
        if place is None:
            continue
        parent = facts.source.parents.get(node)
        is_called = isinstance(parent, ast.Call) and parent.func is node
        yield claim(node, parent) if is_called and parent is not None else claim(node)
        yield AtEnd(partial(_write, facts, node, place))
        if is_called and isinstance(parent, ast.Call) and _fetches(parent, place):
            message = f"{facts.api(node)}: its trained weights are not fetched by a converted project"
            advice = (
                "build it with weights=None; save Keras' own with save_weights, and load them with "
                "load_weights, or bring them with `mindferry weights convert`"
            )
            yield facts.found(parent, findings.MF101, message, advice, rule=facts.api(node))


def _fetches(call: ast.Call, place: str) -> bool:
    """Whether the network is built with weights that Keras would fetch, which it does unless it is told not to."""
    if not place.rpartition(".")[2][:1].isupper():
        return False
    given = next((each.value for each in call.keywords if each.arg == "weights"), None)
    given = given if given is not None else call.args[1] if len(call.args) > 1 else None
    is_open = any(each.arg is None for each in call.keywords) or any(
        isinstance(each, ast.Starred) for each in call.args
    )
    if given is None:
        return not is_open
    return isinstance(given, ast.Constant) and given.value == FETCHED


def _write(facts: Facts, node: ast.expr, place: str, texts: Texts) -> Iterator[Edit]:
    name = texts.name(place)
    yield ReplaceNode(node, name, swallows=True)
    yield facts.record(node, "library", facts.source.text(node), name)
