"""Which functions and classes an argument hands over: `collate_fn=partial(batches.pad, 3)` hands over pad."""

from __future__ import annotations

import ast
from collections.abc import Iterator


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
