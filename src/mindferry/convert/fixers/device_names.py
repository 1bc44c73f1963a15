"""`str(x.device)` and `f"{device}"`: a device that is written out gets torch's name, `cpu`; MindSpore's is `CPU`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.fstrings import is_located
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, Texts

AFTER = ("format_tensors",)
FACES = ("index",)
WRITERS = frozenset({"str", "repr", "print", "format"})


def plan(facts: Facts) -> Iterator[Change]:
    if facts.source.mentions("device"):
        for node in _written_out(facts):
            if facts.reading.type(node).qual == facts.framework.device and facts.reading.type(node).kind == "instance":
                yield AtEnd(partial(_name, facts, node))
        for face in facts.source.of(ast.Attribute):
            if _is_open_face(facts, face):
                yield AtEnd(partial(_name, facts, face.value))


def _is_open_face(facts: Facts, node: ast.Attribute) -> bool:
    """`model.device.index`, where nothing tells what `device` is: a property of a mixin, an argument."""
    if node.attr not in FACES or not isinstance(node.ctx, ast.Load) or not facts.source.mentions(facts.framework.name):
        return False
    parent = facts.parents.get(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    is_device = isinstance(node.value, ast.Attribute) and node.value.attr == "device"
    return is_device and not is_called and facts.reading.type(node.value).kind == "unknown"


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
