"""nn.Module classes: `forward` becomes `construct`, whose first argument must be called self."""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    for node, qual in context.reading.owners.items():
        if isinstance(node, ast.ClassDef) and context.reading.symbols.is_module(qual):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == "forward":
                    _rename(context, member)


def _rename(context: Context, method: ast.FunctionDef) -> None:
    source = context.source
    start = source.data.index(b"forward", source.start(method))
    context.edits.replace(start, start + len(b"forward"), "construct")
    context.rewritten(method, "torch.nn.Module.forward", "def forward", "def construct")
    arguments = [*method.args.posonlyargs, *method.args.args]
    if arguments and arguments[0].arg != "self":
        context.find(method, "MF120", f"the first argument of construct must be named self, not {arguments[0].arg}, for jit and export",
                     "rename it", severity="warning")  # fmt: skip


def finish(context: Context) -> None:
    pass
