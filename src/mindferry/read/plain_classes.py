"""Classes and functions that run no network, such as a replay buffer: what another file asks them for carries no gradient of theirs."""

from __future__ import annotations

import ast
import builtins
import sys
from collections import deque
from typing import TYPE_CHECKING, cast

from .source import Source

if TYPE_CHECKING:
    from .infer import Reading

VALUES = frozenset("ndarray list dict tuple set str int float bool tensor foreign size".split())
CONTAINERS = (list, dict, set, tuple, str, bytes, deque)
CALL_WHAT_THEY_GET = frozenset({"map", "filter", "eval", "exec", "getattr"})
MARKS = frozenset({"requires_grad", "requires_grad_", "Parameter"})  # tensors of their own that a gradient may go to
Definition = ast.ClassDef | ast.FunctionDef


def plain_definitions(reading: Reading) -> set[str]:
    """Names of this module's classes and functions that certainly call nothing that may be a network."""
    found: dict[str, set[str]] = {}
    for node in reading.source.tree.body:
        if isinstance(node, Definition) and (needed := _needed(reading, node)) is not None:
            found[reading.owners.get(node, node.name)] = needed
    plain, users = reading.symbols.plain, dict[str, list[str]]()
    for name, needed in found.items():
        for each in needed - plain:
            users.setdefault(each, []).append(name)
    gone = [name for each in users.keys() - found.keys() for name in users[each]]
    while gone:
        name = gone.pop()
        if found.pop(name, None) is not None:
            gone += users.get(name, ())
    return set(found)


def _needed(reading: Reading, node: Definition) -> set[str] | None:
    """What of the project has to be plain as well; None where something is called that may be a network."""
    if isinstance(node, ast.ClassDef) and node.keywords:
        return None
    found: set[str] = set()
    for base in (*(node.bases if isinstance(node, ast.ClassDef) else ()), *node.decorator_list):
        if (needed := _base(reading, base)) is None:
            return None
        found |= needed
    inside = reading.source.walk(node)
    for each in inside:
        if type(each) is ast.Call:
            if (needed := _called(reading, each, node)) is None:
                return None
            found |= needed
    may_be_marked = any(map(reading.source.mentions, MARKS))  # of the whole file: known after the first definition
    return None if may_be_marked and any(map(_is_marked, inside)) else found


def _is_marked(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return name in MARKS
    return False


def _base(reading: Reading, base: ast.expr) -> set[str] | None:
    """Of a class or a decorator: Python's own are plain, those of the project have to be."""
    base = base.value if isinstance(base, ast.Subscript) else base.func if isinstance(base, ast.Call) else base
    kind = reading.type(base)
    if kind.kind != "ref":
        return set() if isinstance(base, ast.Name) and _is_builtin(reading, base.id) else None
    if reading.symbols.is_local(kind.qual):
        return {reading.symbols.origin(kind.qual)}
    return set() if kind.qual.partition(".")[0] in sys.stdlib_module_names else None


def _called(reading: Reading, call: ast.Call, home: Definition) -> set[str] | None:
    kind = reading.type(call.func)
    match call.func:
        case ast.Name(id=name) if name in _named_tuples(reading.source):
            return set()
        case ast.Name(id=name) if _is_builtin(reading, name):
            return set() if name not in CALL_WHAT_THEY_GET else _handed(reading, call, home)
        case ast.Name() if kind.kind == "ref" and reading.symbols.is_local(kind.qual):
            return {reading.symbols.origin(kind.qual)}
        case ast.Attribute() if _is_own_method(reading, call.func, home):
            return set()
        case ast.Attribute(value=owner, attr=name) if not _is_of_library(reading, call.func):
            held = reading.type(owner).kind
            is_method = any(hasattr(each, name) for each in CONTAINERS)
            is_method |= name in reading.symbols.framework.members.of_all_tensors
            return set() if held in VALUES or (held == "unknown" and is_method) else None
    return set() if _is_of_library(reading, call.func) else None


def _handed(reading: Reading, call: ast.Call, home: Definition) -> set[str] | None:
    """`map(np.stack, rows)`, `map(self.to_tensor, rows)`: what it is given is called."""
    is_plain = bool(call.args) and (
        _is_of_library(reading, call.args[0]) or _is_own_method(reading, call.args[0], home)
    )
    return set() if is_plain else None


def _is_own_method(reading: Reading, node: ast.expr, home: Definition) -> bool:
    """`self.draw`, `super().draw`, `Buffer.draw`: looked into with its class, or with the base that has it."""
    if not isinstance(node, ast.Attribute) or not isinstance(home, ast.ClassDef):
        return False
    match node.value:
        case ast.Call(func=ast.Name(id="super")):
            return True
        case ast.Name(id=name) if name in ("self", "cls", home.name):
            own = {each.name for each in home.body if isinstance(each, ast.FunctionDef)}
            return node.attr in own or reading.symbols.method(reading.owners.get(home, ""), node.attr) is not None
    return False


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
    """The same for every reading of the file: the text alone tells."""
    found = source.kept.get(__name__)
    if found is None:
        found = source.kept[__name__] = _made_named_tuples(source)
    return cast("set[str]", found)


def _made_named_tuples(source: Source) -> set[str]:
    if not (source.mentions("namedtuple") or source.mentions("NamedTuple")):
        return set()
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
