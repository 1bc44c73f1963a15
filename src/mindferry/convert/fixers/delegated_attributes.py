"""`def __getattr__(self, name)` of a network: what MindSpore itself looks for in a cell is no question to the part that answers.

A wrapper gives back `getattr(self.module, name)`. `Cell.__init__` asks for `bprop` before there is a module, and setting
`self.module` asks for `module`: it would go on for ever, or find another cell's settings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.walk import walk
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertBefore, ReplaceNode, Texts, claim


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.FunctionDef):
        if node.name == "__getattr__" and len(node.args.args) == 2 and _is_of_network(facts, node):
            yield AtNode(node.body[0], partial(_guard, facts, node))
            yield from _ask_layers(node)


def _ask_layers(method: ast.FunctionDef) -> Iterator[Change]:
    for node in walk(method):
        match node:
            case ast.Call(func=ast.Name(id="getattr") as asked, args=[_, ast.Name(id=name)], keywords=[]):
                if name == method.args.args[1].arg:
                    yield ReplaceNode(asked, _face, helper="compat.layer_parameter")
                    yield claim(asked)


def _face(texts: Texts) -> str:
    """What is asked may be a layer of torch's own, with other names for its members here."""
    return texts.name("compat.layer_parameter")


def _is_of_network(facts: Facts, method: ast.FunctionDef) -> bool:
    around = facts.parents.get(method)
    qual = facts.reading.owners.get(around, "") if isinstance(around, ast.ClassDef) else ""
    return bool(qual) and facts.reading.symbols.is_module(qual)


def _guard(facts: Facts, method: ast.FunctionDef, texts: Texts) -> Iterator[Edit]:
    source, first = facts.source, method.body[0]
    name, newline, indent = method.args.args[1].arg, source.newline(), source.indent(method)
    test = f"if {texts.name('compat.is_asked_by_mindspore')}():"
    lines = [test, f"    return super().__getattr__({name})"]
    if first.lineno == method.lineno:  # def __getattr__(self, name): return getattr(self.module, name)
        inner = indent + "    "
        yield InsertBefore(source.start(first), "".join(f"{newline}{inner}{line}" for line in lines) + newline + inner)
    else:
        inner = source.indent(first)
        yield InsertBefore(source.line_start(source.start(first)), "".join(f"{inner}{line}{newline}" for line in lines))
    yield facts.record(method, "__getattr__", source.text(method).partition("\n")[0], f"{test} {lines[1].strip()}")
