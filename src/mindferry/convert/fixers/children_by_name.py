"""Layers that are put into a network from outside, or under a name from elsewhere.

`setattr(self, name, layer)`: MindSpore refuses "my head" as the beginning of a parameter's name. `setattr(parent, name, layer)` and
`model.stem.conv = layer`, where nothing tells what the parent is: a SequentialCell has to be told what it runs from now on. Where
several parents get a layer of one name (`for block in blocks: block.conv = layer`), its parameters need their owners' names.
`del model.features.pool`: a SequentialCell would go on running the layer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from ...read.networks import is_named_like_network
from ...read.uses import Use
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, ReplaceNode, ReplaceSpan, Texts, claim

AFTER = ("set_training_mode",)  # the layer's mode stands inside the call
LEGAL = re.compile(r"[\w.-]*", re.ASCII)


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.calls_named("setattr"):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, name, value], keywords=[]):
                is_odd = _is_module(facts, owner) and not _is_legal(name) and _may_be_module(facts, value)
                if is_odd or _is_surgery(facts, owner, value) or _is_given_to_sequence(facts, owner, value):
                    yield AtEnd(partial(_hold, facts, call))
    given = [*_layers_given(facts)]
    owners: dict[str, set[str]] = {}
    for _, target in given:
        owners.setdefault(target.attr, set()).add(facts.source.text(target.value))
    for statement, target in given:
        is_repeated = len(owners[target.attr]) > 1 or _is_of_loop(facts, target.value)
        is_known = _is_module(facts, target.value)
        if (is_known and is_repeated) or (
            isinstance(target.value, ast.Attribute)
            and (
                _is_surgery(facts, target.value, statement.value)
                or _is_given_to_sequence(facts, target.value, statement.value)
            )
        ):
            yield claim(target)
            yield AtEnd(partial(_hold_attribute, facts, statement, target))
    yield from _removals(facts)


def _removals(facts: Facts) -> Iterator[Change]:
    for call in facts.source.calls_named("delattr"):
        match call:
            case ast.Call(func=ast.Name(id="delattr"), args=[owner, _]) if _may_run_children(facts, owner):
                yield AtEnd(partial(_let_go, facts, call))
    for statement in facts.source.of(ast.Delete):
        match statement:
            case ast.Delete(targets=[ast.Attribute(value=owner) as target]) if _may_run_children(facts, owner):
                yield claim(target)
                yield AtEnd(partial(_let_go_attribute, facts, statement, target))


def _is_given_to_sequence(facts: Facts, owner: ast.expr, value: ast.expr) -> bool:
    return facts.uses.has(Use.NETWORK_LIST, facts.reading.type(owner).qual) and _may_be_module(facts, value)


def _may_run_children(facts: Facts, owner: ast.expr) -> bool:
    """A list of layers, or a part of a network that nothing is known of; a network's own children are named in its forward."""
    kind = facts.reading.type(owner)
    if kind.kind == "unknown":
        return is_named_like_network(owner) or (
            isinstance(owner, ast.Attribute | ast.Subscript) and facts.source.mentions(facts.framework.name)
        )
    is_own = isinstance(owner, ast.Name) and owner.id == "self"
    return facts.uses.has(Use.NETWORK_LIST, kind.qual) or (_is_module(facts, owner) and not is_own)


def _layers_given(facts: Facts) -> Iterator[tuple[ast.Assign, ast.Attribute]]:
    """`model.stem.conv = layer`: layers that another one than `self` gets."""
    for statement in facts.source.of(ast.Assign):
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))]):
                continue
            case ast.Assign(targets=[ast.Attribute() as target], value=value) if _is_module(facts, value):
                yield statement, target


def _is_of_loop(facts: Facts, owner: ast.expr) -> bool:
    """Whether it is another one at each turn: `for block in blocks:`, or `blocks[i]`."""
    if isinstance(owner, ast.Subscript):
        return not isinstance(owner.slice, ast.Constant)
    if not isinstance(owner, ast.Name):
        return False
    loop = facts.enclosing(owner, ast.For)
    while isinstance(loop, ast.For):
        if any(isinstance(each, ast.Name) and each.id == owner.id for each in ast.walk(loop.target)):
            return True
        loop = facts.enclosing(loop, ast.For)
    return False


def _is_surgery(facts: Facts, owner: ast.expr, value: ast.expr) -> bool:
    """Whether a network is changed that nothing is known of: what it gets is a layer, or it is named like a network and gets anything."""
    if facts.reading.type(owner).kind != "unknown":
        return False
    return _is_module(facts, value) or (is_named_like_network(owner) and _may_be_module(facts, value))


def _is_module(facts: Facts, owner: ast.expr) -> bool:
    kind = facts.reading.type(owner)
    return kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)


def _may_be_module(facts: Facts, value: ast.expr) -> bool:
    kind = facts.reading.type(value)
    return (kind.kind == "unknown" and not isinstance(value, ast.BinOp)) or _is_module(facts, value)


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


def _let_go(facts: Facts, call: ast.Call, texts: Texts) -> Iterator[Edit]:
    before = texts.of(call)
    yield ReplaceNode(call.func, texts.name("compat.let_go"))
    yield facts.record(call, "delattr", before, texts.of(call))


def _let_go_attribute(facts: Facts, statement: ast.Delete, target: ast.Attribute, texts: Texts) -> Iterator[Edit]:
    before = facts.source.text(statement)
    yield ReplaceNode(statement, f"{texts.name('compat.let_go')}({texts.of(target.value)}, '{target.attr}')")
    yield facts.record(statement, "delattr", before, texts.of(statement))


def _hold_attribute(facts: Facts, statement: ast.Assign, target: ast.Attribute, texts: Texts) -> Iterator[Edit]:
    source = facts.source
    value = source.skip_trivia(source.data.index(b"=", source.end(target)) + 1)
    opening = f"{texts.name('compat.hold')}({texts.of(target.value)}, '{target.attr}', "
    yield ReplaceSpan(source.start(statement), value, opening, swallows=True)
    yield InsertAfter(statement, ")")
    yield facts.record(statement, "setattr", source.text(statement), texts.of(statement))
