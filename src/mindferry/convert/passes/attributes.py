"""A layer's parameters under MindSpore's names: `self.bn.weight` is `self.bn.gamma`; a pair's parts by number."""

from __future__ import annotations

import ast

from ...syntax.types import TENSOR, Type, tuple_of
from ..context import Context

PAIR = tuple_of(TENSOR, TENSOR)  # torch.return_types of max, topk, sort
PARTS = {"values": "[0]", "indices": "[1]"}


def prepare(context: Context) -> None:
    for node in context.source.nodes:
        if isinstance(node, ast.Attribute):
            receiver = context.reading.type(node.value)
            if receiver.kind == "instance":
                _rename(context, node, receiver)
            elif receiver == PAIR and node.attr in PARTS:
                _index(context, node)


def _index(context: Context, node: ast.Attribute) -> None:
    """`x.max(1).indices`: a pair is a plain tuple."""
    source, new = context.source, PARTS[node.attr]
    dot = source.find_token(b".", source.end(node.value), source.end(node))
    context.edits.replace(dot, source.end(node), new)
    context.rewritten(node, "pair", f".{node.attr}", new)
    context.handled.add(node)


def _rename(context: Context, node: ast.Attribute, receiver: Type) -> None:
    symbols = context.reading.symbols
    if symbols.method(receiver.qual, node.attr) is not None or symbols.attribute(receiver.qual, node.attr).kind != "unknown":
        return
    options = [each.qual for each in receiver.items] or [receiver.qual]
    names = set()
    for qual in options:
        entry = context.rules.get(symbols.torch_base(qual))
        names.add(entry.params.get(node.attr, node.attr) if entry else node.attr)
    if names == {node.attr}:
        return
    if len(names) > 1:
        context.find(node, "MF121", f"{node.attr} is called {' or '.join(sorted(names))} in MindSpore, depending on the layer",
                     "test for each layer in a branch of its own")  # fmt: skip
        return
    new = names.pop()
    source = context.source
    context.edits.replace(source.end(node) - len(node.attr.encode()), source.end(node), new)
    context.rewritten(node, context.reading.symbols.torch_base(options[0]), f".{node.attr}", f".{new}")
    context.handled.add(node)


def finish(context: Context) -> None:
    pass
