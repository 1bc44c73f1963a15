"""Functions that write to a tensor that they are given: MindSpore can't do that with an input of what is differentiated."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .source import Source
from .uses import Use

if TYPE_CHECKING:
    from .infer import Reading

# They are given settings, or samples before these are tensors of a batch.
OF_OBJECTS = frozenset("__init__ __getitem__ __setitem__ __setattr__ __init_subclass__ setup_context".split())
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def writing_functions(reading: Reading) -> set[str]:
    """Names of this module's functions and methods that change an argument in place before it is bound anew."""
    source = reading.source
    if not source.mentions("torch"):
        return set()
    found: set[str] = set()
    for written in _written(source):
        function = _function_around(source, written)
        if isinstance(function, ast.FunctionDef) and _is_given(reading, function, written):
            found.add(reading.owners.get(function, function.name))
    return found


def _written(source: Source) -> Iterator[ast.Name]:
    """x of `x[0] = 1`, `x[0] += 1`, `x.mul_(2)` and `x.mul_(2).add_(1)`."""
    for node in source.of(ast.Subscript):
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and not _is_key(node.slice):
            yield node.value
    for call in source.of(ast.Call):
        if (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and _is_in_place(call.func.attr)
        ):
            yield call.func.value


def _is_key(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.startswith("_") and not method.endswith("__")


def _function_around(source: Source, node: ast.AST) -> ast.AST | None:
    current = source.parents.get(node)
    while current is not None and not isinstance(current, Function):
        current = source.parents.get(current)
    return current


def _is_given(reading: Reading, function: ast.FunctionDef, written: ast.Name) -> bool:
    source, arguments = reading.source, function.args
    names = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    if written.id not in names or function.name in OF_OBJECTS:
        return False
    if not reading.type(written).is_tensor and reading.type(written).kind != "unknown":
        return False
    is_bound = any(source.start(each) < source.start(written) for each in source.stored_within(written.id, function))
    return not is_bound and not _is_initialized(reading, function, written.id)


def _is_initialized(reading: Reading, function: ast.FunctionDef, name: str) -> bool:
    """It gets a parameter's first value there: such a function is given parameters, no inputs."""
    framework, known = reading.symbols.framework, reading.once(_initialized)
    if function.name in framework.forward:
        return False
    if (function, name) not in known:
        known[function, name] = _has_starting_value(reading, function, name)
    return known[function, name]


def _initialized(reading: Reading) -> dict[tuple[ast.AST, str], bool]:
    return {}


def _has_starting_value(reading: Reading, function: ast.FunctionDef, name: str) -> bool:
    framework = reading.symbols.framework
    return any(
        isinstance(parent := reading.source.parents.get(each), ast.Attribute)
        and framework.uses.has(Use.STARTING_VALUE, framework.of_tensor(parent.attr))
        for each in reading.source.named_within(name, function)
    )
