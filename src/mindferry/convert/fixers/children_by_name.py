"""`setattr(self, name, layer)` with a name from elsewhere: MindSpore refuses "my head" as the beginning of a parameter's name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceNode, Texts

LEGAL = re.compile(r"[\w.-]*", re.ASCII)


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.calls_named("setattr"):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, value], keywords=[]):
                if _is_module(facts, owner) and not _is_legal(name) and _may_be_module(facts, value):
                    yield AtEnd(partial(_hold, facts, call))


def _is_module(facts: Facts, owner: ast.expr) -> bool:
    kind = facts.reading.type(owner)
    return kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)


def _may_be_module(facts: Facts, value: ast.expr) -> bool:
    kind = facts.reading.type(value)
    return kind.kind == "unknown" or _is_module(facts, value)


def _is_legal(name: ast.expr) -> bool:
    """Written out and legal; what is put together of legal parts and numbers, such as f"layer{i}", counts as legal."""
    match name:
        case ast.Constant(value=str(text)):
            return LEGAL.fullmatch(text) is not None
        case ast.JoinedStr(values=[ast.Constant(), *_] as parts):
            return all(_is_legal(part) for part in parts if isinstance(part, ast.Constant))
        case ast.BinOp(left=ast.Constant(value=str()) as text):
            return _is_legal(ast.Constant(re.sub(r"%\w", "", str(text.value))))
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return LEGAL.fullmatch(re.sub(r"\{.*?\}", "", text)) is not None
    return False


def _hold(facts: Facts, call: ast.Call, texts: Texts) -> Iterator[Edit]:
    before = texts.of(call)
    yield ReplaceNode(call.func, texts.name("compat.hold"))
    yield facts.record(call, "setattr", before, texts.of(call))
