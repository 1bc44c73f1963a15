"""A new network trains in torch and evaluates in MindSpore: where nothing in a project calls train(), it is told so when it is made."""

from __future__ import annotations

import ast

from ...read.framework import Role
from ..context import Context


def prepare(context: Context) -> None:
    pass


def finish(context: Context) -> None:
    symbols = context.reading.symbols
    if symbols.sets_mode or "backward" not in symbols.mentioned:
        return
    made = [value for node in context.source.of(ast.Assign) for value in _made(context, node)]
    for call in context.source.of(ast.Call):
        made += [value for value in _given(context, call) if value not in made]
    for value in made:
        before = context.edits.text(value)
        context.edits.after(context.source.end(value), ".set_train()")
        context.rewritten(value, "torch.nn.Module.train", before, f"{before}.set_train()")


def _made(context: Context, node: ast.Assign) -> list[ast.Call]:
    """The networks that `net = Net(...)`, `self.net = Net(...)` and `a, b = A(), B()` make outside of networks."""
    owner = context.enclosing(node, ast.ClassDef)
    if len(node.targets) != 1 or (
        owner is not None and context.reading.symbols.is_module(context.reading.owners.get(owner, ""))
    ):
        return []
    target, value = node.targets[0], node.value
    values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value]
    is_held = isinstance(target, ast.Name | ast.Attribute | ast.Tuple)
    return [each for each in values if is_held and isinstance(each, ast.Call) and _is_network(context, each)]


def _given(context: Context, call: ast.Call) -> list[ast.Call]:
    """The networks that `Trainer(Net())` and `train(Net())` make: given to a class or function of the project that is no network."""
    kind, symbols = context.reading.type(call.func), context.reading.symbols
    if (
        kind.kind != "ref"
        or symbols.is_module(kind.qual)
        or not (kind.qual in symbols.classes or kind.qual in symbols.results)
    ):
        return []
    owner = context.enclosing(call, ast.ClassDef)
    if owner is not None and symbols.is_module(context.reading.owners.get(owner, "")):
        return []
    return [
        each
        for each in (*call.args, *(key.value for key in call.keywords))
        if isinstance(each, ast.Call) and _is_network(context, each)
    ]


def _is_network(context: Context, value: ast.Call) -> bool:
    """A network, not a loss."""
    kind, symbols = context.reading.type(value), context.reading.symbols
    is_network = kind.kind == "instance" and symbols.is_module(kind.qual) and symbols.role(kind.qual) is not Role.LOSS
    is_there = context.enclosing(value, ast.stmt) not in context.edits.removed  # `net = DataParallel(net)` can go
    return is_network and is_there and context.edits.text(value).endswith(")")
