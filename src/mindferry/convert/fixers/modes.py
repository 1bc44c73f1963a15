"""A new network trains in torch and evaluates in MindSpore: where nothing in a project calls train(), it is told so when it is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.framework import Role
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, Texts

AFTER = ("tidy",)


def plan(facts: Facts) -> Iterator[Change]:
    symbols = facts.reading.symbols
    if not symbols.sets_mode and "backward" in symbols.mentioned:
        yield AtEnd(partial(_write, facts))


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    made = [value for node in facts.source.of(ast.Assign) for value in _made(facts, node)]
    for call in facts.source.of(ast.Call):
        made += [value for value in _given(facts, call) if value not in made]
    for value in made:
        before = texts.of(value)
        # `net = DataParallel(net)` can go, and then the network is made elsewhere
        if texts.is_removed(facts.statement_of(value)) or not before.endswith(")"):
            continue
        yield InsertAfter(facts.source.end(value), ".set_train()")
        yield facts.record(value, "torch.nn.Module.train", before, f"{before}.set_train()")


def _made(facts: Facts, node: ast.Assign) -> list[ast.Call]:
    """The networks that `net = Net(...)`, `self.net = Net(...)` and `a, b = A(), B()` make outside of networks."""
    owner = facts.enclosing(node, ast.ClassDef)
    if len(node.targets) != 1 or (
        owner is not None and facts.reading.symbols.is_module(facts.reading.owners.get(owner, ""))
    ):
        return []
    target, value = node.targets[0], node.value
    values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value]
    is_held = isinstance(target, ast.Name | ast.Attribute | ast.Tuple)
    return [each for each in values if is_held and isinstance(each, ast.Call) and _is_network(facts, each)]


def _given(facts: Facts, call: ast.Call) -> list[ast.Call]:
    """The networks that `Trainer(Net())` and `train(Net())` make: given to a class or function of the project that is no network."""
    kind, symbols = facts.reading.type(call.func), facts.reading.symbols
    if (
        kind.kind != "ref"
        or symbols.is_module(kind.qual)
        or not (kind.qual in symbols.classes or kind.qual in symbols.results)
    ):
        return []
    owner = facts.enclosing(call, ast.ClassDef)
    if owner is not None and symbols.is_module(facts.reading.owners.get(owner, "")):
        return []
    return [
        each
        for each in (*call.args, *(key.value for key in call.keywords))
        if isinstance(each, ast.Call) and _is_network(facts, each)
    ]


def _is_network(facts: Facts, value: ast.Call) -> bool:
    """A network, not a loss."""
    kind, symbols = facts.reading.type(value), facts.reading.symbols
    return kind.kind == "instance" and symbols.is_module(kind.qual) and symbols.role(kind.qual) is not Role.LOSS
