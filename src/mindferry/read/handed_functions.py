"""Which functions and classes an argument hands over: `collate_fn=partial(batches.pad, 3)` hands over pad."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .framework import Role
from .guesses import looks_like_collate
from .types import UNKNOWN, Type

if TYPE_CHECKING:
    from .scope import Scope
    from .symbols import Slot, Symbols

TRANSFORMS = ("transform", "transforms", "augment", "augmentation")  # how arguments end that change samples


def functions_named(node: ast.expr) -> Iterator[str]:
    """By their last name; a lambda hands over what it calls."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Call(func=function, args=given):
            yield from functions_named(function)
            for each in given:
                if isinstance(each, ast.Name | ast.Attribute):
                    yield from functions_named(each)
        case ast.Lambda(body=body):
            for call in ast.walk(body):
                if isinstance(call, ast.Call):
                    yield from functions_named(call.func)
        case ast.IfExp(body=body, orelse=orelse):
            yield from functions_named(body)
            yield from functions_named(orelse)


def note_handed_over(
    call: ast.Call, function: Type, scope: Scope, types: dict[ast.AST, Type], symbols: Symbols
) -> None:
    """What makes batches, and what changes samples: code that data workers run, whatever it is called."""
    _note_called_by_data(function, scope.owner, symbols)
    if scope.part and _computes(call, function, symbols):
        symbols.computing.add(scope.part)
    if not call.args and not call.keywords:
        return
    is_data_set = function.kind in ("ref", "value") and _is_data_set(function.qual, symbols)
    for keyword in call.keywords:
        if keyword.arg == "collate_fn":
            symbols.collates.update(functions_named(keyword.value))
            symbols.collates.update(_named_by_type(types.get(keyword.value, UNKNOWN), symbols))
        elif is_data_set or (keyword.arg and keyword.arg.endswith(TRANSFORMS)):
            symbols.transforms.update(functions_named(keyword.value))
    for given in call.args if is_data_set else ():
        symbols.transforms.update(functions_named(given))


def _named_by_type(kind: Type, symbols: Symbols) -> set[str]:
    """`pad = Padder(6)`, then `collate_fn=pad`: the class, or a function under another name."""
    qual = symbols.origin(kind.qual)
    is_ours = kind.kind in ("instance", "ref", "value") and symbols.is_local(qual)
    return {qual.rpartition(".")[2]} if is_ours else set()


def _computes(call: ast.Call, function: Type, symbols: Symbols) -> bool:
    """Whether a call is one of the framework's, or of a transform."""
    if function.kind == "ref" and symbols.framework.is_own(function.qual):
        return True
    return "transform" in getattr(call.func, "attr", getattr(call.func, "id", ""))


def _note_called_by_data(function: Type, owner: str, symbols: Symbols) -> None:
    """A function, class or method of the project's that a data set calls, or what changes its samples: `Class.method`."""
    home, _, name = function.qual.rpartition(".")
    if (
        not owner
        or not home
        or not (symbols.role(owner) is Role.DATASET or owner.rpartition(".")[2] in symbols.transforms)
    ):
        return
    if function.kind == "method" and home != owner and home in symbols.classes and not _is_data_set(home, symbols):
        symbols.transforms.add(f"{home.rpartition('.')[2]}.{name}")
    elif (
        function.kind in ("ref", "value")
        and symbols.is_local(function.qual)
        and not _is_data_set(function.qual, symbols)
    ):
        symbols.transforms.add(name)


def _is_data_set(qual: str, symbols: Symbols) -> bool:
    return not symbols.framework.is_own(qual) and symbols.role(qual) is Role.DATASET


def collate_slots(function: ast.FunctionDef, qual: str) -> Iterator[Slot]:
    """The arguments of a function that make batches, each by its position and by its name."""
    handed_on = {
        keyword.value.id
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "collate_fn" and isinstance(keyword.value, ast.Name)
    }
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    for index, each in enumerate(arguments):
        if looks_like_collate(each.arg) or each.arg in handed_on:
            yield from ((qual, index), (qual, each.arg))


def given_to_slots(symbols: Symbols) -> set[str]:
    """The functions and classes that some call gives for such an argument, by their last name."""
    given = (kind for qual, slot in symbols.collate_slots for kind in symbols.arguments.get(qual, {}).get(slot, ()))
    return {kind.qual.rpartition(".")[2] for kind in given if kind.kind in ("ref", "value", "instance")}


def values_for_slots(call: ast.Call, function: Type, symbols: Symbols) -> Iterator[ast.expr]:
    """What a call gives for such arguments."""
    qual = f"{function.qual}.__init__" if function.qual in symbols.classes else function.qual
    slots = {slot for owner, slot in symbols.collate_slots if owner == qual}
    skipped = int(function.kind == "method" or qual != function.qual)
    yield from (each for index, each in enumerate(call.args, skipped) if index in slots)
    yield from (keyword.value for keyword in call.keywords if keyword.arg in slots)
