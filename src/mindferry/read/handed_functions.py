"""Which functions and classes an argument hands over: `collate_fn=partial(batches.pad, 3)` hands over pad."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .framework import Role
from .types import Type

if TYPE_CHECKING:
    from .symbols import Symbols

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


def note_handed_over(call: ast.Call, function: Type, symbols: Symbols) -> None:
    """What makes batches, and what changes samples: code that data workers run, whatever it is called."""
    if not call.args and not call.keywords:
        return
    is_data_set = (
        function.kind in ("ref", "value")
        and not symbols.framework.is_own(function.qual)
        and symbols.role(function.qual) is Role.DATASET
    )
    for keyword in call.keywords:
        if keyword.arg == "collate_fn":
            symbols.collates.update(functions_named(keyword.value))
        elif is_data_set or (keyword.arg and keyword.arg.endswith(TRANSFORMS)):
            symbols.transforms.update(functions_named(keyword.value))
    for given in call.args if is_data_set else ():
        symbols.transforms.update(functions_named(given))
