"""`str(x.dtype).split(".")[1]`, `"torch" in str(type(x))`: texts of types are read as torch writes them, or a finding says that they can't be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...read.fstrings import is_located
from ...read.guesses import name_of
from ...read.types import Type, options_of
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore, ReplaceNode

SHOWN = frozenset("print log debug info warning warn error critical exception write".split())  # for people to read
ASKING = frozenset("startswith find count index split".split())
PLACES = frozenset({"__module__", "__class__"})


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name):
        return
    for call in facts.source.calls_named("str", "repr"):
        is_text = isinstance(call.func, ast.Name) and len(call.args) == 1 and _is_element_type(facts, call.args[0])
        if is_text and not _is_shown(facts, call):
            yield ReplaceNode(call.func, lambda texts: texts.name("compat.dtype_text"))
    for field in facts.source.of(ast.FormattedValue):
        if (
            field.format_spec is None
            and is_located(field.value)
            and _is_element_type(facts, field.value)
            and not _is_shown(facts, field)
        ):
            yield InsertBefore(field.value, lambda texts: f"{texts.name('compat.dtype_text')}(")
            yield InsertAfter(field.value, ")")
    yield from _asked_places(facts)


def _is_element_type(facts: Facts, value: ast.expr) -> bool:
    kind = facts.reading.type(value)
    if options := options_of(kind):
        return all(_is_named_type(facts, each) for each in options)
    if isinstance(value, ast.Attribute) and value.attr == "dtype" and kind.kind == "unknown":
        return facts.reading.type(value.value).kind in ("unknown", "tensor")
    return False


def _is_named_type(facts: Facts, kind: Type) -> bool:
    """torch.float32, or what some tensor says its type is."""
    home, _, name = kind.qual.rpartition(".")
    return kind.qual == facts.framework.dtype or (home == facts.framework.name and name in facts.framework.dtypes)


def _is_shown(facts: Facts, node: ast.AST) -> bool:
    """In a message, where MindSpore's own name is as good."""
    parent = facts.parents.get(node)
    while isinstance(parent, ast.expr | ast.keyword):
        if isinstance(parent, ast.Call) and name_of(parent.func) in SHOWN:
            return True
        parent = facts.parents.get(parent)
    return isinstance(parent, ast.Raise | ast.Assert)


def _asked_places(facts: Facts) -> Iterator[Change]:
    """`type(x).__module__.startswith("torch")`: a tensor's class is another framework's now."""
    name = facts.framework.name
    for text in facts.source.of(ast.Constant):
        if not isinstance(text.value, str) or text.value.partition(".")[0] != name:
            continue
        parent = facts.parents.get(text)
        while isinstance(parent, ast.Tuple | ast.List | ast.Set):
            parent = facts.parents.get(parent)
        match parent:
            case ast.Compare(left=left, comparators=others):
                asked = [left, *others]
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in ASKING:
                asked = [owner]
            case _:
                continue
        if any(_tells_place(each) for each in asked):
            yield facts.found(
                parent,
                findings.MF102,
                f"{facts.source.text(parent)}: a class is asked where {name} defines it",
                "ask for the class itself, by isinstance",
                "error",
            )


def _tells_place(node: ast.expr) -> bool:
    return any(
        (isinstance(each, ast.Attribute) and each.attr in PLACES)
        or (isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "type")
        for each in ast.walk(node)
    )
