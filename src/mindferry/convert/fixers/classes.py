"""nn.Module classes: `forward` becomes `construct`, whose first argument must be called self; a `train` of its own is called."""

from __future__ import annotations

import ast

from ... import findings
from ..context import Context

UNBOUND = {"forward": "construct", "train": "set_train"}


def prepare(context: Context) -> None:
    for node, qual in context.reading.owners.items():
        if not isinstance(node, ast.ClassDef):
            continue
        forwards = [member for member in node.body if isinstance(member, ast.FunctionDef) and member.name == "forward"]
        if forwards and context.reading.symbols.is_part_of_module(qual):
            for member in forwards:
                _rename(context, member)
        if context.reading.symbols.is_module(qual):
            if not forwards:
                _rename_chosen(context, node)
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == "train" and _sets_mode(each):
                    _call_own_train(context, node, each)
    for call in context.source.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.args:
            _rename_unbound(context, call, call.func)


def _rename_unbound(context: Context, call: ast.Call, method: ast.Attribute) -> None:
    """`nn.Module.__init__(self)`, `Base.forward(self, x)`: a method taken from its class."""
    kind, symbols = context.reading.type(method.value), context.reading.symbols
    is_dunder = method.attr.startswith("__") and method.attr.endswith("__")
    if kind.kind != "ref" or not (is_dunder or method.attr in UNBOUND):
        return
    qual = symbols.origin(kind.qual)
    before, end = context.source.text(method), context.source.end(method)
    if qual in symbols.classes:
        if method.attr != "forward" or not symbols.is_module(qual):
            return
    else:
        entry = context.rules.get(qual)
        if (
            entry is None
            or entry.missing
            or not (qual == "torch.nn.Module" or (qual.startswith("torch.nn.") and symbols.is_module(qual)))
        ):
            return
        context.edits.replace_node(method.value, context.imports.spell(entry.like or entry.to))
        context.handled |= {call, *ast.walk(method)}
    context.edits.replace(end - len(method.attr), end, UNBOUND.get(method.attr, method.attr))
    context.rewritten(method, "torch.nn.Module", before, context.edits.text(method))


def _rename(context: Context, method: ast.FunctionDef) -> None:
    source = context.source
    start = source.data.index(b"forward", source.start(method))
    context.edits.replace(start, start + len(b"forward"), "construct")
    context.rewritten(method, "torch.nn.Module.forward", "def forward", "def construct")
    arguments = [*method.args.posonlyargs, *method.args.args]
    if arguments and arguments[0].arg != "self":
        context.find(
            method,
            findings.MF120,
            f"the first argument of construct must be named self, not {arguments[0].arg}, for jit and export",
            "rename it",
        )


def _rename_chosen(context: Context, node: ast.ClassDef) -> None:
    """`self.forward = self.forward_split`: the method is chosen when the network is built."""
    for part in ast.walk(node):
        match part:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr="forward") as target]):
                end = context.source.end(target)
                context.edits.replace(end - len(b"forward"), end, "construct")
                context.rewritten(target, "torch.nn.Module.forward", "self.forward", "self.construct")


def _sets_mode(method: ast.FunctionDef) -> bool:
    """`def train(self, mode=True)`, in place of Module's; another may take a loader and train."""
    if "mode" in [each.arg for each in method.args.args]:
        return True
    calls = [each.func for each in ast.walk(method) if isinstance(each, ast.Call)]
    return any(
        isinstance(each, ast.Attribute) and each.attr == "train" and ast.unparse(each.value).startswith("super(")
        for each in calls
    )


def _call_own_train(context: Context, node: ast.ClassDef, method: ast.FunctionDef) -> None:
    """MindSpore's set_train() sets the cells below it without calling anything of theirs."""
    decorator = f"@{context.imports.spell('compat.with_own_train')}"
    source = context.source
    context.edits.before(source.start(node), f"{decorator}{source.newline()}{source.indent(node)}")
    context.rewritten(method, "torch.nn.Module.train", f"class {node.name}", f"{decorator} class {node.name}")


def finish(context: Context) -> None:
    pass
