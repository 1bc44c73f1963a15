"""`forward` as a value: `original = cls.forward`, `Net.forward = patched`, `model.forward` given to something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, ReplaceNode, ReplaceSpan, Texts, claim


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name):
        return
    for node in facts.source.members.get("forward", ()):
        if _is_called(facts, node):
            continue
        parent = facts.parents.get(node)
        if _is_network(facts, node.value):
            end = facts.source.end(node)
            yield ReplaceSpan(end - len(b"forward"), end, "construct")
            yield facts.record(node, facts.framework.of_network("forward"), ".forward", ".construct")
            yield claim(node)
        elif _is_set(parent, node) and _is_unknown(facts, node.value):
            yield _set_when_run(facts, node, parent)
    for call in facts.source.calls_named("setattr", "getattr", "hasattr"):
        match call:
            case ast.Call(
                func=ast.Name(id="setattr" | "getattr" | "hasattr"), args=[owner, ast.Constant("forward") as name, *_]
            ) if _is_network(facts, owner):
                yield ReplaceNode(name, '"construct"')
                yield facts.record(name, facts.framework.of_network("forward"), "forward", "construct")
    for call in facts.source.calls_named("type"):
        yield from _made_class(facts, call)


def _made_class(facts: Facts, call: ast.Call) -> Iterator[Change]:
    """`type("Net", (nn.Module,), {"forward": run})`."""
    match call:
        case ast.Call(func=ast.Name(id="type"), args=[_, ast.Tuple(elts=bases), members]) if any(
            _is_network_class(facts, base) for base in bases
        ):
            names = members.keys if isinstance(members, ast.Dict) else []
            for name in names:
                if isinstance(name, ast.Constant) and name.value == "forward":
                    yield ReplaceNode(name, '"construct"')
                    yield facts.record(name, facts.framework.of_network("forward"), "forward", "construct")
            for keyword in members.keywords if isinstance(members, ast.Call) else []:
                if keyword.arg == "forward":
                    start = facts.source.start(keyword)
                    yield ReplaceSpan(start, start + len(b"forward"), "construct")
                    yield facts.record(keyword, facts.framework.of_network("forward"), "forward", "construct")


def _is_network_class(facts: Facts, base: ast.expr) -> bool:
    kind, symbols = facts.reading.type(base), facts.reading.symbols
    return kind.kind in ("ref", "value") and symbols.is_module(symbols.origin(kind.qual))


def _is_set(statement: ast.AST | None, target: ast.Attribute) -> TypeGuard[ast.Assign]:
    """To a method: `player.forward = True` says where somebody goes."""
    return (
        isinstance(statement, ast.Assign)
        and statement.targets == [target]
        and not isinstance(statement.value, ast.Constant)
    )


def _is_called(facts: Facts, node: ast.Attribute) -> bool:
    parent = facts.parents.get(node)
    return isinstance(parent, ast.Call) and parent.func is node


def _is_unknown(facts: Facts, owner: ast.expr) -> bool:
    return facts.reading.type(owner).kind == "unknown"


def _is_network(facts: Facts, owner: ast.expr) -> bool:
    """A class of the project's networks, or an object of one: `self.forward = self.forward_split` chooses a method."""
    kind, symbols = facts.reading.type(owner), facts.reading.symbols
    if kind.kind == "instance":
        is_self = (
            isinstance(owner, ast.Name) and owner.id == "self"
        )  # its class may be one that networks derive from too
        return symbols.is_module(kind.qual) or (is_self and symbols.is_part_of_module(kind.qual))
    is_own = kind.kind in ("ref", "value") and symbols.origin(kind.qual) in symbols.classes
    return is_own and symbols.is_module(kind.qual)


def _set_when_run(facts: Facts, target: ast.Attribute, statement: ast.Assign) -> AtEnd:
    """`cls.forward = patched`: what it calls its forward method is asked when it runs."""
    source = facts.source

    def write(texts: Texts) -> Iterator[Edit]:
        owner = texts.of(target.value)
        opening = f"setattr({owner}, {texts.name('compat.forward_name')}({owner}), "
        yield ReplaceSpan(source.start(target), source.value_start(statement), opening, swallows=True)
        yield InsertAfter(statement, ")")
        yield facts.record(target, facts.framework.of_network("forward"), source.text(target), opening)

    return AtEnd(write)
