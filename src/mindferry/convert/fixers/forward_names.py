"""`forward` as a value: `original = cls.forward`, `Net.forward = patched`, `model.forward` given to something else."""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    if not context.source.mentions("torch"):
        return
    for node in context.source.of(ast.Attribute):
        if node.attr != "forward" or _is_called(context, node):
            continue
        if _is_network(context, node.value):
            end = context.source.end(node)
            context.edits.replace(end - len(b"forward"), end, "construct")
            context.rewritten(node, "torch.nn.Module.forward", context.source.text(node), context.edits.text(node))
            context.handled.add(node)


def _is_called(context: Context, node: ast.Attribute) -> bool:
    parent = context.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _is_network(context: Context, owner: ast.expr) -> bool:
    """A class of the project's networks, or an object of one; `self` is seen to where its class is."""
    kind, symbols = context.reading.type(owner), context.reading.symbols
    is_self = isinstance(owner, ast.Name) and owner.id == "self"
    if kind.kind == "instance":
        return symbols.is_module(kind.qual) and not is_self
    return (
        kind.kind in ("ref", "value") and symbols.origin(kind.qual) in symbols.classes and symbols.is_module(kind.qual)
    )


def finish(context: Context) -> None:
    """What nothing is known of is asked at run time what it calls its forward method."""
    if not context.source.mentions("torch"):
        return
    source = context.source
    for statement in source.of(ast.Assign):
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr="forward", value=owner) as target], value=value):
                if context.reading.type(owner).kind != "unknown":
                    continue
                text = context.edits.text(owner)
                opening = f"setattr({text}, {context.imports.spell('compat.forward_name')}({text}), "
                context.edits.replace(source.start(target), source.start(value), opening)
                context.edits.after(source.end(value), ")")
                context.rewritten(target, "torch.nn.Module.forward", source.text(target), opening)
