"""Everything in a part of a tree, several times as fast as `ast.walk`: fixers ask for it again and again."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

# fields that hold texts and numbers; or contexts and operators, one object of which stands for all its kind
_PLAIN_FIELDS = frozenset(
    "arg asname attr conversion ctx id is_async kind kwd_attrs level module n op ops rest s simple str type_comment".split()
)
_NAMED = ("FunctionDef", "AsyncFunctionDef", "ClassDef", "ExceptHandler", "MatchAs", "MatchStar", "alias", "TypeVar")
_TEXTS = frozenset("arg asname attr module name rest type_comment".split())  # or a node, as the name of a type does
_LEAVES = ("Constant", "Name", "Global", "Nonlocal", "TypeIgnore", "ParamSpec", "TypeVarTuple", "MatchSingleton")


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Of those of a kind of node, the ones that hold nodes."""
    if kind.__name__ in _LEAVES:
        return ()
    is_named = kind.__name__ in _NAMED  # a text; elsewhere a name is a node
    return tuple(each for each in kind._fields if each not in _PLAIN_FIELDS and not (is_named and each == "name"))


_KINDS = (each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.AST))


class _Fields(dict[type, tuple[str, ...]]):
    def __missing__(self, kind: type) -> tuple[str, ...]:
        """Of a class of our own: those of what it derives from."""
        self[kind] = next(self[each] for each in kind.__mro__ if each in self)
        return self[kind]


FIELDS = _Fields({kind: _fields(kind) for kind in _KINDS})
TEXT_FIELDS = _Fields({kind: tuple(each for each in getattr(kind, "_fields", ()) if each in _TEXTS) for kind in FIELDS})


def walk(root: ast.AST) -> list[ast.AST]:
    """The node and all inside it, level by level as `ast.walk` gives them, without contexts and operators."""
    found = [root]
    append, fields = found.append, FIELDS
    for node in found:  # grows while it is read
        for name in fields[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                found += value if None not in value else [item for item in value if item is not None]
            elif value is not None:
                append(value)
    return found


_KEPT: list[Any] = []  # the functions that `kept_by_node` decorates: filled when modules are imported, never by a file


def kept_by_node(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Remember what a function tells of the latest nodes, until `forget_nodes`: nothing of a file outlasts its conversion."""

    def remembering(function: Callable[P, T]) -> Callable[P, T]:
        cached = functools.lru_cache(maxsize=most)(function)
        _KEPT.append(cached)
        return cast("Callable[P, T]", cached)

    return remembering


def forget_nodes() -> None:
    for cached in _KEPT:
        cached.cache_clear()


@kept_by_node(1024)
def walk_again(root: ast.AST) -> tuple[ast.AST, ...]:
    """The same for those who ask for a few statements many times over, when nothing changes in them any more."""
    return tuple(walk(root))


def by_kind(root: ast.AST) -> dict[type, list[Any]]:
    """The same, by the kinds of the nodes; names are left out, most of what there is."""
    found: dict[type, list[Any]] = defaultdict(list)
    level: list[Any] = [root]
    while level:
        following: list[Any] = []
        append = following.append
        for node in level:
            kind = type(node)
            found[kind].append(node)
            for name in FIELDS[kind]:
                value = getattr(node, name, None)
                if type(value) is list:
                    following += [item for item in value if item is not None and type(item) is not ast.Name]
                elif value is not None and type(value) is not ast.Name:
                    append(value)
        level = following
    return found


def children_of(node: ast.AST) -> list[ast.AST]:
    """What the node is made of, as `ast.iter_child_nodes` gives it, without contexts and operators."""
    found: list[ast.AST] = []
    for name in FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [item for item in value if item is not None]
        elif value is not None:
            found.append(value)
    return found
