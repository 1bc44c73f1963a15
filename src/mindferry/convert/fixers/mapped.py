"""`q, k, v = map(lambda t: …, qkv)` in a network becomes a list: a graph's map takes no lambda that reads `self`."""

from __future__ import annotations

import ast

from ..context import Context


def prepare(context: Context) -> None:
    pass


def finish(context: Context) -> None:
    for node in context.source.of(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Tuple() | ast.List()],
                value=ast.Call(
                    func=ast.Name(id="map"),
                    args=[ast.Lambda(args=ast.arguments(args=[only], defaults=[])) as function, values],
                ),
            ) if _is_in_network(context, node) and not isinstance(values, ast.Starred):
                before = context.source.text(node.value)
                text = f"[{context.edits.text(function.body)} for {only.arg} in {context.edits.text(values)}]"
                context.edits.replace_node(node.value, text)
                context.rewritten(node, "map", before, text)


def _is_in_network(context: Context, node: ast.Assign) -> bool:
    owner = context.enclosing(node, ast.ClassDef)
    return owner is not None and context.reading.symbols.is_module(context.reading.owners.get(owner, ""))
