"""Which functions and classes an argument hands over: `collate_fn=partial(batches.pad, 3)` hands over pad."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from .framework import Role
from .guesses import looks_like_collate
from .types import UNKNOWN, Type, options_of

if TYPE_CHECKING:
    from .scope import Scope
    from .source import Source
    from .symbols import Slot, Symbols

TRANSFORMS = ("transform", "transforms", "augment", "augmentation")  # how arguments end that change samples


def functions_named(node: ast.expr) -> Iterator[str]:
    """By their last name; a lambda hands over what it calls."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
            yield name
        case ast.Subscript(value=ast.Call(func=ast.Name(id="globals")), slice=ast.Constant(value=str(name))):
            yield name
        case ast.NamedExpr(value=value):
            yield from functions_named(value)
        case ast.BoolOp(values=values):
            for each in values:
                yield from functions_named(each)
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
            note_batch_function(keyword.value, types, symbols)
        elif is_data_set or (keyword.arg and keyword.arg.endswith(TRANSFORMS)):
            _note_transform(keyword.value, types, symbols)
    for given in call.args if is_data_set else ():
        _note_transform(given, types, symbols)


def note_batch_function(value: ast.expr, types: dict[ast.AST, Type], symbols: Symbols) -> None:
    """`collate_fn=pad`, `{"collate_fn": pad}`, `settings["collate_fn"] = TABLE[how]`."""
    symbols.collates.update(functions_named(value))
    symbols.collates.update(_named_by_type(types.get(value, UNKNOWN), symbols))


def _note_transform(value: ast.expr, types: dict[ast.AST, Type], symbols: Symbols) -> None:
    symbols.transforms.update(functions_named(value))
    symbols.transforms.update(_named_by_type(types.get(value, UNKNOWN), symbols))


def note_set_transform(owner: Type, value: Type, symbols: Symbols) -> None:
    """`rows.transform = flip`, also inside of the data set's own methods."""
    if owner.kind == "instance" and _is_data_set(owner.qual, symbols):
        symbols.transforms.update(_named_by_type(value, symbols))


def _named_by_type(kind: Type, symbols: Symbols) -> set[str]:
    """`pad = Padder(6)`, then `collate_fn=pad`: the class, or a function under another name; all that a table has."""
    held = kind.items if kind.kind in ("list", "tuple", "dict") else (kind,)
    quals = (symbols.origin(each.qual) for part in held for each in options_of(part))
    return {qual.rpartition(".")[2] for qual in quals if symbols.is_local(qual)}


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


def collate_slots(function: ast.FunctionDef, qual: str, kept: Collection[str]) -> Iterator[Slot]:
    """The arguments of a function that make batches, each by its position and by its name; `kept`: attributes that do."""
    handed_on = {
        keyword.value.id
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "collate_fn" and isinstance(keyword.value, ast.Name)
    }
    if kept:  # `self.join = join`
        handed_on |= {
            each.value.id
            for each in ast.walk(function)
            if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name)
            for target in each.targets
            if isinstance(target, ast.Attribute) and target.attr in kept
        }
    for index, each in enumerate(_arguments(function)):
        if looks_like_collate(each.arg) or each.arg in handed_on:
            yield from ((qual, index), (qual, each.arg))


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def given_by_default(function: ast.FunctionDef, qual: str, slots: Collection[Slot]) -> Iterator[str]:
    """`def load(rows, join=pad)`: the functions that such arguments are unless a call says otherwise."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = dict(zip(reversed(positional), reversed(given.defaults), strict=False))
    defaults |= {name: each for name, each in zip(given.kwonlyargs, given.kw_defaults, strict=True) if each}
    for name, default in defaults.items():
        if (qual, name.arg) in slots:
            yield from functions_named(default)


def attributes_handed_on(source: Source) -> set[str]:
    """`DataLoader(rows, collate_fn=self.join)`: the names of such attributes."""
    return {
        keyword.value.attr
        for call in source.of(ast.Call)
        for keyword in call.keywords
        if keyword.arg == "collate_fn" and isinstance(keyword.value, ast.Attribute)
    }


def given_to_slots(symbols: Symbols) -> set[str]:
    """The functions and classes that some call gives for such an argument, by their last name."""
    given = (kind for qual, slot in symbols.collate_slots for kind in symbols.arguments.get(qual, {}).get(slot, ()))
    return {option.qual.rpartition(".")[2] for kind in given for option in options_of(kind)}


def values_for_slots(call: ast.Call, function: Type, symbols: Symbols) -> Iterator[ast.expr]:
    """What a call gives for such arguments."""
    qual = f"{function.qual}.__init__" if function.qual in symbols.classes else function.qual
    slots = {slot for owner, slot in symbols.collate_slots if owner == qual}
    skipped = int(function.kind == "method" or qual != function.qual)
    yield from (each for index, each in enumerate(call.args, skipped) if index in slots)
    yield from (keyword.value for keyword in call.keywords if keyword.arg in slots)
