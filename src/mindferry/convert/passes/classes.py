"""nn.Module classes: `forward` becomes `construct`, whose first argument must be called self."""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    for node, qual in context.reading.owners.items():
        if isinstance(node, ast.ClassDef) and context.reading.symbols.is_module(qual):
            forwards = [member for member in node.body if isinstance(member, ast.FunctionDef) and member.name == "forward"]
            for member in forwards:
                _rename(context, member)
            if not forwards:
                _rename_chosen(context, node)


def _rename(context: Context, method: ast.FunctionDef) -> None:
    source = context.source
    start = source.data.index(b"forward", source.start(method))
    context.edits.replace(start, start + len(b"forward"), "construct")
    context.rewritten(method, "torch.nn.Module.forward", "def forward", "def construct")
    arguments = [*method.args.posonlyargs, *method.args.args]
    if arguments and arguments[0].arg != "self":
        context.find(method, "MF120", f"the first argument of construct must be named self, not {arguments[0].arg}, for jit and export",
                     "rename it", severity="warning")  # fmt: skip


def _rename_chosen(context: Context, node: ast.ClassDef) -> None:
    """`self.forward = self.forward_split`: the method is chosen when the network is built."""
    for part in ast.walk(node):
        match part:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr="forward") as target]):
                end = context.source.end(target)
                context.edits.replace(end - len(b"forward"), end, "construct")
                context.rewritten(target, "torch.nn.Module.forward", "self.forward", "self.construct")


def finish(context: Context) -> None:
    pass
