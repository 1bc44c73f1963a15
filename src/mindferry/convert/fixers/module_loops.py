"""`for m in net.modules()` becomes `for _, m in net.cells_and_names()`; elsewhere the rule writes a list."""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    for node in context.source.of(ast.For):
        match node:
            case ast.For(
                target=ast.Name() as target,
                iter=ast.Call(func=ast.Attribute(attr="modules") as method, args=[], keywords=[]) as call,
            ):
                receiver = context.reading.type(method.value)
                if receiver.kind == "instance" and context.reading.symbols.is_module(receiver.qual):
                    source = context.source
                    context.edits.before(source.start(target), "_, ")
                    context.edits.replace(source.end(method) - len(b"modules"), source.end(method), "cells_and_names")
                    context.rewritten(call, "torch.nn.Module.modules", source.text(call), context.edits.text(call))
                    context.handled |= {call, method}


def finish(context: Context) -> None:
    pass
