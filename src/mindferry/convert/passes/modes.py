"""A new network trains in torch and evaluates in MindSpore: where nothing in a project calls train(), it is told so when it is made."""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    pass


def finish(context: Context) -> None:
    symbols = context.reading.symbols
    if symbols.sets_mode or "backward" not in symbols.mentioned:
        return
    for node in context.source.of(ast.Assign):
        for value in _made(context, node):
            before = context.edits.text(value)
            context.edits.after(context.source.end(value), ".set_train()")
            context.rewritten(value, "torch.nn.Module.train", before, f"{before}.set_train()")


def _made(context: Context, node: ast.Assign) -> list[ast.Call]:
    """The networks that `net = Net(...)`, `self.net = Net(...)` and `a, b = A(), B()` make outside of networks."""
    owner = context.enclosing(node, ast.ClassDef)
    if len(node.targets) != 1 or (owner is not None and context.reading.symbols.is_module(context.reading.owners.get(owner, ""))):
        return []
    target, value = node.targets[0], node.value
    values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value]
    is_held = isinstance(target, ast.Name | ast.Attribute | ast.Tuple)
    return [each for each in values if is_held and isinstance(each, ast.Call) and _is_network(context, each)]


def _is_network(context: Context, value: ast.Call) -> bool:
    """A network, not a loss."""
    kind, symbols = context.reading.type(value), context.reading.symbols
    is_network = kind.kind == "instance" and symbols.is_module(kind.qual) and not symbols.torch_base(kind.qual).endswith("Loss")
    return is_network and context.edits.text(value).endswith(")")
