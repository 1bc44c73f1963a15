"""Helpers that classes of the project derive from: with what these call the helper's own __init__."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...read.walk import walk

Nodes = Mapping[type, list[Any]]


def bases_in(
    tree: ast.Module, nodes: Nodes, helpers: set[ast.Attribute]
) -> Iterator[tuple[str, ast.Attribute, list[ast.Call]]]:
    """(name of the class, the helper, calls of the helper's __init__) of classes with one base.

    A class without an __init__ of its own is made with the helper's arguments, by whoever knows its name; others have none here.
    """
    named: Taken | None = None
    for node in nodes[ast.ClassDef]:
        match node:
            case ast.ClassDef(bases=[ast.Attribute() as base], keywords=[]) if base in helpers:
                start = [each for each in node.body if _is_named(each, "__init__", "__new__", "__init_subclass__")]
                if not start and named is None:
                    named = _taken_names(tree, nodes)
                calls = _own_calls(node) if start else _calls_of_class(named or {}, node)
                if calls is not None:
                    yield ("" if start else node.name), base, calls


def _is_named(node: ast.stmt, *names: str) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in names


def _own_calls(owner: ast.ClassDef) -> list[ast.Call] | None:
    """`super().__init__(…)` of a class whose __init__ has one; None where it may reach the helper's otherwise."""
    named = [node for node in walk(owner) if isinstance(node, ast.Attribute) and node.attr in ("__init__", "__new__")]
    calls = [node for node in walk(owner) if isinstance(node, ast.Call) and node.func in named]
    is_plain = bool(calls) and len(calls) == len(named)
    return calls if is_plain and all(_is_of_super(each.value, owner.name) for each in named) else None


def _is_of_super(node: ast.expr, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="super"), args=[]):
            return True
        case ast.Call(func=ast.Name(id="super"), args=[ast.Name(id=owner), ast.Name()]):
            return owner == name
    return False


Taken = dict[str, list[ast.Call | None]]


def _taken_names(tree: ast.Module, nodes: Nodes) -> Taken:
    """By name, its calls; None for what is neither called nor asked for a member."""
    called = {node.func: node for node in nodes[ast.Call]}
    members = {node.value for node in nodes[ast.Attribute] if not node.attr.startswith("__")}
    found: Taken = {}
    for node in walk(tree):
        if isinstance(node, ast.Name) and node not in members:
            found.setdefault(node.id, []).append(called.get(node))
    return found


def _calls_of_class(named: Taken, owner: ast.ClassDef) -> list[ast.Call] | None:
    """Calls in this file of a class that is no more than called and asked for members; None where it is more."""
    calls = named.get(owner.name, [])
    return None if None in calls else [each for each in calls if each is not None]
