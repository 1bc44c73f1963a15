"""Parameters are named by where they stand: a network that fills its containers after it holds them has to name them anew."""

from __future__ import annotations

import ast

from ..context import Context

CONTAINERS = tuple(
    f"torch.nn.{name}" for name in "ModuleList ModuleDict Sequential ParameterList ParameterDict".split()
)
FILLING = frozenset("append extend insert add_module register_module update".split())


def prepare(context: Context) -> None:
    pass


def finish(context: Context) -> None:
    symbols = context.reading.symbols
    for owner in context.source.of(ast.ClassDef):
        if not symbols.is_module(context.reading.owners.get(owner, "")):
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__" and _fills(context, method):
                _name_anew(context, method)


def _fills(context: Context, method: ast.FunctionDef) -> bool:
    """`self.blocks.append(...)`, `self.heads[name] = ...`; torch looks names up, MindSpore writes them when a part is given."""
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in FILLING and _is_container(
                context, owner
            ):
                return True
            case ast.Subscript(value=owner, ctx=ast.Store()) if _is_container(context, owner):
                return True
    return False


def _is_container(context: Context, node: ast.expr) -> bool:
    kind = context.reading.type(node)
    return kind.kind == "instance" and context.reading.symbols.torch_base(kind.qual) in CONTAINERS


def _name_anew(context: Context, method: ast.FunctionDef) -> None:
    source = context.source
    last = method.body[-1]
    if last in context.edits.removed or source.indent(last).strip():
        return
    context.edits.after(source.end(last), f"{source.newline()}{source.indent(last)}self.update_parameters_name()")
    context.rewritten(method, "torch.nn.ModuleList.append", "", "self.update_parameters_name()")
