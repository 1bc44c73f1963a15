"""`f"{loss:.4f}"` and `"{:.4f}".format(loss)`: a MindSpore Tensor takes no format, its number does."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from functools import partial

from ...read.fstrings import is_located
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, ReplaceNode, Texts

BEFORE_A_DOT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def plan(facts: Facts) -> Iterator[Change]:
    yield AtEnd(partial(_write, facts))


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    for field in facts.source.of(ast.FormattedValue):
        if isinstance(field.format_spec, ast.JoinedStr) and is_located(field.value):
            yield from _take_number(facts, field.value, texts)
    for node in facts.source.of(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
                for each in _with_format(text, node):
                    yield from _take_number(facts, each, texts)


def _with_format(text: str, call: ast.Call) -> list[ast.expr]:
    """The arguments that the text gives a format."""
    try:
        fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:
        return []
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    found: list[ast.expr] = []
    for index, (name, spec) in enumerate(fields):
        position = index if not name else int(name) if name.isdigit() else -1
        given = call.args[position] if 0 <= position < len(call.args) else keywords.get(name)
        if spec and given is not None and given not in found:
            found.append(given)
    return found if not any(isinstance(each, ast.Starred) for each in call.args) else []


def _take_number(facts: Facts, value: ast.expr, texts: Texts) -> Iterator[Edit]:
    if isinstance(value, ast.Name) and _is_both(facts, value):
        before = texts.of(value)
        yield ReplaceNode(value, f"{texts.name('compat.plain_number')}({before})")
        yield facts.record(value, "format", before, texts.of(value))
        return
    if not facts.reading.type(value).is_tensor:
        return
    start, end = facts.source.start(value), facts.source.end(value)
    before = texts.of(value)
    if isinstance(value, BEFORE_A_DOT):
        yield InsertAfter(end, ".item()")
    else:
        yield InsertBefore(start, "(")
        yield InsertAfter(end, ").item()")
    yield facts.record(value, "format", before, texts.of(value))


def _is_both(facts: Facts, value: ast.Name) -> bool:
    """`best = 0.0`, and a tensor later: in some round of the loop it is one."""
    scope = facts.enclosing(value, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    names = [
        node
        for node in ast.walk(scope)
        if isinstance(node, ast.Name) and node.id == value.id and isinstance(node.ctx, ast.Store)
    ]
    kinds = {facts.reading.type(node).kind for node in names}
    return "tensor" in kinds and bool(kinds & {"int", "float"})
