"""`str(x.device)` and `f"{device}"`: a device that is written out gets torch's name, `cpu`; MindSpore's is `CPU`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.fstrings import is_located
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, Texts

AFTER = ("format_tensors",)
WRITERS = frozenset({"str", "repr", "print", "format"})


def plan(facts: Facts) -> Iterator[Change]:
    if facts.source.mentions("device"):
        for node in _written_out(facts):
            if facts.reading.type(node).qual == facts.framework.device and facts.reading.type(node).kind == "instance":
                yield AtEnd(partial(_name, facts, node))


def _written_out(facts: Facts) -> Iterator[ast.expr]:
    """What becomes text: an argument of str or print, a field of an f-string, what % and .format fill in."""
    for field in facts.source.of(ast.FormattedValue):
        if is_located(field.value):
            yield field.value
    for node in facts.source.of(ast.Call):
        match node.func:
            case ast.Name(id=name) if name in WRITERS:
                yield from node.args
            case ast.Attribute(value=ast.Constant(value=str()), attr="format"):
                yield from (*node.args, *(keyword.value for keyword in node.keywords))
    for operation in facts.source.of(ast.BinOp):
        match operation:
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str()), right=ast.Tuple(elts=parts)):
                yield from parts
            case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str()), right=part):
                yield part


def _name(facts: Facts, node: ast.expr, texts: Texts) -> Iterator[Edit]:
    before = texts.of(node)
    helper = texts.name("compat.Device")
    if before.startswith(f"{helper}("):
        return
    yield InsertBefore(node, f"{helper}(")
    yield InsertAfter(node, ")")
    yield facts.record(node, facts.framework.device, before, texts.of(node))
