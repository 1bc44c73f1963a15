"""`if x.requires_grad:` in the forward of an autograd.Function: it keeps what backward needs, and backward is always there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts
from ..plan import Change, ReplaceNode, claim


def plan(facts: Facts) -> Iterator[Change]:
    if b"requires_grad" not in facts.source.data:
        return
    for node, qual in facts.reading.owners.items():
        if isinstance(node, ast.ClassDef) and facts.uses.has(Use.OWN_GRADIENT, facts.reading.symbols.torch_base(qual)):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "forward":
                    yield from _answer(facts, method)


def _answer(facts: Facts, method: ast.FunctionDef) -> Iterator[Change]:
    given = {each.arg for each in (*method.args.posonlyargs, *method.args.args)}
    for node in walk(method):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="requires_grad", ctx=ast.Load()) if name in given:
                yield ReplaceNode(node, "True")
                yield facts.record(node, facts.framework.of_tensor("requires_grad"), facts.source.text(node), "True")
                yield claim(node)
