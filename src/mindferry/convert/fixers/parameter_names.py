"""Parameters are named by where they stand: a network that fills its containers after it holds them has to name them anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, Texts

FILLING = frozenset("append extend insert add_module register_module update".split())


def plan(facts: Facts) -> Iterator[Change]:
    symbols = facts.reading.symbols
    for owner in facts.source.of(ast.ClassDef):
        if not symbols.is_module(facts.reading.owners.get(owner, "")):
            continue
        for method in owner.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__" and _fills(facts, method):
                yield AtEnd(partial(_name_anew, facts, method))


def _fills(facts: Facts, method: ast.FunctionDef) -> bool:
    """`self.blocks.append(...)`, `self.heads[name] = ...`; torch looks names up, MindSpore writes them when a part is given."""
    for node in facts.source.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in FILLING and _is_container(
                facts, owner
            ):
                return True
            case ast.Subscript(value=owner, ctx=ast.Store()) if _is_container(facts, owner):
                return True
    return False


def _is_container(facts: Facts, node: ast.expr) -> bool:
    kind = facts.reading.type(node)
    return kind.kind == "instance" and facts.uses.has(Use.NETWORK_LIST, facts.reading.symbols.torch_base(kind.qual))


def _name_anew(facts: Facts, method: ast.FunctionDef, texts: Texts) -> Iterator[Edit]:
    source, last = facts.source, method.body[-1]
    if not texts.is_removed(last) and not source.indent(last).strip():
        added = "self.update_parameters_name()"
        yield InsertAfter(last, f"{source.newline()}{source.indent(last)}{added}")
        yield facts.record(method, f"{facts.uses.name(Use.NETWORK_LIST)}.append", "", added)
