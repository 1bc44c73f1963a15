"""Parameters that a loss may not reach: torch leaves them without a gradient, MindSpore gives zeros."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .framework import Role
from .source import Source

if TYPE_CHECKING:
    from .infer import Reading

WITH_PARAMETERS = tuple(
    "Linear Bilinear Conv Lazy BatchNorm GroupNorm LayerNorm RMSNorm InstanceNorm SyncBatchNorm Embedding RNN GRU LSTM "
    "Multihead Transformer Sequential ModuleList ModuleDict Parameter PReLU".split()
)
REGISTERS = frozenset({"add_module", "register_parameter", "register_module"})
CONDITIONS = (ast.If, ast.IfExp, ast.While, ast.Try, ast.Match, ast.Lambda)
STEPPED = (Role.OPTIMIZER, Role.SCHEDULER)
FORWARD = frozenset({"forward", "__call__", "training_step"})
LEAVES = frozenset({ast.Name, ast.Constant, ast.arg, ast.Pass})  # nodes that no attribute is in


def unsure_parameters(reading: Reading) -> set[str]:
    """Names of the networks and optimizers of this module for which it can't be seen that every parameter takes part."""
    source: Source = reading.source
    if b"torch" not in source.data:
        return set()
    networks = [each for each in source.of(ast.ClassDef) if reading.symbols.is_module(reading.owners.get(each, ""))]
    held = _held(reading) if networks else {}
    found = {
        reading.owners.get(each, each.name) for each in networks if _may_leave_out(source, each, held.get(each, set()))
    }
    role = reading.symbols.framework.role
    for call in source.of(ast.Call):
        kind = reading.type(call.func)
        if kind.kind == "ref" and role(kind.qual) in STEPPED and len(_owners(call)) != 1:
            found.add(f"{reading.module}:{call.lineno}")
    return found


def _owners(call: ast.Call) -> set[str]:
    """What an optimizer takes its parameters from: `net` in `Adam(net.parameters())`."""
    return {
        ast.unparse(node.func.value)
        for given in (*call.args[:1], *(key.value for key in call.keywords if key.arg == "params"))
        for node in ast.walk(given)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("parameters", "named_parameters")
    } | {node.id for given in call.args[:1] if isinstance(given, ast.Name) for node in [given]}


def _may_leave_out(source: Source, owner: ast.ClassDef, held: set[str]) -> bool:
    """Whether a layer or parameter of the class is not used, or only under a condition."""
    if not held:
        return False
    methods = {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
    forwards = [methods[name] for name in sorted(FORWARD & set(methods))]
    return not forwards or bool(held - _used_by(source, methods, forwards[0]))


def _used_by(source: Source, methods: dict[str, ast.FunctionDef], forward: ast.FunctionDef) -> set[str]:
    """The same for every reading of the file: the text alone tells."""
    known: Any = source.kept.setdefault(__name__, {})
    if forward not in known:
        known[forward] = _surely_used(source, methods, forward, set())
    found: set[str] = known[forward]
    return found


def _held(reading: Reading) -> dict[ast.ClassDef, set[str]]:
    """Class -> its attributes that get a network or a parameter in one of its methods."""
    found: dict[ast.ClassDef, set[str]] = {}
    source = reading.source
    held: list[tuple[ast.AST, str]] = [
        (node, name)
        for node in source.of(ast.Assign)
        if (name := _own_attribute(node))
        and any(type(each) is ast.Call and _has_parameters(reading, each) for each in source.walk(node.value))
    ]
    held += [
        (call, "a name that is made up")
        for call in source.of(ast.Call)
        if type(call.func) is ast.Attribute and call.func.attr in REGISTERS
    ]
    for node, name in held:
        for owner in _classes_around(source, node):
            found.setdefault(owner, set()).add(name)
    return found


def _own_attribute(node: ast.Assign) -> str:
    """x of `self.x = …`."""
    target = node.targets[0]
    if type(target) is not ast.Attribute or type(target.value) is not ast.Name or len(node.targets) != 1:
        return ""
    return target.attr if target.value.id == "self" else ""


def _classes_around(source: Source, node: ast.AST) -> Iterator[ast.ClassDef]:
    """The classes that have it in a method."""
    while (parent := source.parents.get(node)) is not None:
        if isinstance(node, ast.FunctionDef) and isinstance(parent, ast.ClassDef):
            yield parent
        node = parent


def _has_parameters(reading: Reading, call: ast.Call) -> bool:
    kind = reading.type(call.func)
    if kind.kind == "ref" and kind.qual.startswith(reading.symbols.framework.homes):
        return kind.qual.rpartition(".")[2].startswith(WITH_PARAMETERS)
    made = reading.type(call)
    if made.kind == "instance":
        return reading.symbols.is_module(made.qual)
    return kind.kind == "unknown"


def _surely_used(
    source: Source, methods: dict[str, ast.FunctionDef], method: ast.FunctionDef, seen: set[str]
) -> set[str]:
    """Attributes that every run of the method uses, those that its own methods use included; `seen` are those looked into."""
    found: set[str] = set()
    for name in _read(source, method):
        if name not in methods:
            found.add(name)
        elif name not in seen:
            seen.add(name)
            found |= _surely_used(source, methods, methods[name], seen)
    return found


def _read(source: Source, node: ast.AST) -> list[str]:
    """`self.x` where no condition but its own existence stands before it, and no `return` under a condition."""
    found: list[str] = []
    _gather(source, node, found)
    return found


def _gather(source: Source, node: ast.AST, found: list[str]) -> None:
    if isinstance(node, CONDITIONS):
        test = getattr(node, "test", None)
        if test is None:  # a handler, a pattern, a loop that may not run: nothing in it is sure
            return
        own = {each.attr for each in source.walk(test) if type(each) is ast.Attribute}
        _gather(source, test, found)
        inside = [name for child in source.children(node) if child is not test for name in _read(source, child)]
        found += [name for name in inside if name in own]
        return
    if type(node) is ast.Subscript and type(node.value) is ast.Attribute and type(node.ctx) is not ast.Store:
        _gather(source, node.slice, found)  # one of several layers
        return
    if type(node) is ast.Attribute and type(node.value) is ast.Name and node.value.id == "self":
        found.append(node.attr)
    for child in source.children(node):
        if type(child) not in LEAVES:
            _gather(source, child, found)
        if type(child) is ast.If and any(type(each) is ast.Return for each in source.walk(child)):
            return
