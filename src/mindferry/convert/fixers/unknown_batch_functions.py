"""`collate_fn=` something that only the running program knows: whether it computes with tensors or arrays is not known."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...read.guesses import looks_like_collate
from ...read.handed_functions import functions_named
from ...read.types import options_of
from ..facts import Facts
from ..plan import Change
from .data_arrays import collate_values
from .data_loaders import lambdas_in

MESSAGE = "which function this is shows only when the code runs; it is handed arrays, and was not converted for them"
ADVICE = (
    'name the function where the loader is made, or give it a name with "collate" in it; '
    "one of a library's that takes arrays is right"
)


def plan(facts: Facts) -> Iterator[Change]:
    for value in facts.derived(collate_values):
        if not _is_known(facts, value):
            yield facts.found(value, findings.MF131, MESSAGE, ADVICE)


def _is_known(facts: Facts, value: ast.expr) -> bool:
    kind, symbols = facts.reading.type(value), facts.reading.symbols
    is_anothers = isinstance(value, ast.Name) and value.id not in facts.source.stored  # by `from somewhere import *`
    if any(lambdas_in(facts, value)) or kind.kind != "unknown" or options_of(kind) or is_anothers:
        return True
    names = {*functions_named(value), *_keys(value)}
    if any(looks_like_collate(name) for name in names) or _is_argument(facts, value):
        return True
    return any(map(symbols.defines, names))


def _keys(value: ast.expr) -> Iterator[str]:
    """`settings["collate_fn"]`: what a dictionary has under such a key was looked at where it is written."""
    return (each.value for each in ast.walk(value) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def _is_argument(facts: Facts, value: ast.expr) -> bool:
    """Of the function around: what its callers give is looked at there."""
    function = facts.enclosing(value, ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(value, ast.Name) or not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    given = function.args
    return value.id in {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
