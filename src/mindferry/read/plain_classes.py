"""Classes that run no network, such as a replay buffer: what another file asks them for carries no gradient of theirs."""

from __future__ import annotations

import ast
import builtins
from collections import deque
from typing import TYPE_CHECKING

from .source import Source
from .walk import walk_again as walk

if TYPE_CHECKING:
    from .infer import Reading

VALUES = frozenset("ndarray list dict tuple set str int float bool tensor foreign size".split())
CONTAINERS = (list, dict, set, tuple, str, bytes, deque)
CALL_WHAT_THEY_GET = frozenset({"map", "filter", "eval", "exec", "getattr", "super"})
MARKS = ("requires_grad", "Parameter")  # tensors of their own that a gradient may go to


def plain_classes(reading: Reading) -> set[str]:
    """Names of this module's classes, without bases, that certainly call nothing that may be a network."""
    found = set()
    for node in reading.source.of(ast.ClassDef):
        text = reading.source.text(node)
        has_base = any(not (isinstance(base, ast.Name) and base.id == "object") for base in node.bases)
        if has_base or node.keywords or node.decorator_list or any(mark in text for mark in MARKS):
            continue
        methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        if all(_runs_none(reading, each, methods) for each in walk(node) if isinstance(each, ast.Call)):
            found.add(reading.owners.get(node, node.name))
    return found


def _runs_none(reading: Reading, call: ast.Call, methods: set[str]) -> bool:
    match call.func:
        case ast.Name(id=name) if name in _named_tuples(reading.source):
            return True
        case ast.Name(id=name) if _is_builtin(reading, name):
            return name not in CALL_WHAT_THEY_GET or (bool(call.args) and _is_of_library(reading, call.args[0]))
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name in methods
        case ast.Attribute(value=owner, attr=name) if not _is_of_library(reading, call.func):
            kind = reading.type(owner).kind
            is_method = any(hasattr(each, name) for each in CONTAINERS)
            is_method |= name in reading.symbols.framework.members.of_all_tensors
            return kind in VALUES or (kind == "unknown" and is_method)
    return _is_of_library(reading, call.func)


def _is_builtin(reading: Reading, name: str) -> bool:
    return hasattr(builtins, name) and name not in reading.scope.names


def _is_of_library(reading: Reading, node: ast.expr) -> bool:
    """A function of numpy's, of Python's or of the framework's: neither the project's nor a network."""
    kind, symbols = reading.type(node), reading.symbols
    if kind.kind in ("ref", "value") and kind.qual:
        return not symbols.is_local(kind.qual) and not symbols.is_module(kind.qual)
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root is not node and root.id in _imported(reading.source)


def _named_tuples(source: Source) -> set[str]:
    made = [
        node
        for node in source.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if source.text(node.value.func).rpartition(".")[2] in ("namedtuple", "NamedTuple")
    ]
    return {target.id for node in made for target in node.targets if isinstance(target, ast.Name)}


def _imported(source: Source) -> set[str]:
    """Names of modules: `np` of `import numpy as np`."""
    return {(alias.asname or alias.name.partition(".")[0]) for node in source.of(ast.Import) for alias in node.names}
