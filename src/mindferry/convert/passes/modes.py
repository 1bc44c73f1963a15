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
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and _makes_network(context, node)
        ):
            before = context.edits.text(node.value)
            context.edits.after(context.source.end(node.value), ".set_train()")
            context.rewritten(node.value, "torch.nn.Module.train", before, f"{before}.set_train()")


def _makes_network(context: Context, node: ast.Assign) -> bool:
    """`net = Net(...)` outside of networks: a class of the project, not a loss."""
    kind, symbols = context.reading.type(node.value), context.reading.symbols
    owner = context.enclosing(node, ast.ClassDef)
    if owner is not None and symbols.is_module(context.reading.owners.get(owner, "")):
        return False
    is_network = kind.kind == "instance" and symbols.is_module(kind.qual) and not symbols.torch_base(kind.qual).endswith("Loss")
    return is_network and isinstance(node.value, ast.Call) and context.edits.text(node.value).endswith(")")
