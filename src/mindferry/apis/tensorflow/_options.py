"""Options of Keras and TensorFlow that a helper does not know: where the text tells the value, they are a finding and not an error at run time."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from .._call import Call

INITIALIZERS = "keras.initializers."


@dataclass(frozen=True, slots=True)
class Option:
    known: tuple[Any, ...]
    advice: str


@functools.cache
def _table() -> dict[str, dict[str, Option]]:
    found: dict[str, dict[str, Option]] = {}
    for line in files(__package__).joinpath("options.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            api, names, known, advice = line.split("\t")
            values = tuple(ast.literal_eval(each) for each in known.split())
            found.setdefault(api, {}).update({name: Option(values, advice) for name in names.split()})
    return found


def options_of(api: str) -> dict[str, Option]:
    """The options of an API that its helper knows in part."""
    found = dict(_table().get(api, {}))
    if api.startswith(INITIALIZERS):
        found |= {name: Option((None,), "leave it out") for name in ("input_axes", "output_axes")}
    return found


def check_options(call: Call) -> None:
    """Leave a call whose options the helper would refuse, or pass over in silence."""
    for name, option in options_of(call.rule.api).items():
        for value in told_values(call, name, option.known[0]):
            if not any(value is each or value == each for each in option.known):
                call.leave(f"the helper does not know {name}={value!r}", option.advice)
                return


def told_values(call: Call, name: str, absent: Any) -> list[Any]:
    """The values that an argument may have, as far as the text tells: a literal's, or those that its name is given."""
    value = call.literal(name, absent)
    if value is not ...:
        return [value]
    given = call.given[name]
    return _values_of_name(call.reading.source.tree, given.id) if isinstance(given, ast.Name) else []


def _values_of_name(tree: ast.Module, name: str) -> list[Any]:
    """What is assigned to the name, or is a parameter's default, wherever that is in the file."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in node.targets
        ):
            found.append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            found += [node.value] if node.value is not None else []
        elif isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            pairs = [*zip(reversed(positional), reversed(node.defaults), strict=False)]
            pairs += [(each, value) for each, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value]
            found += [value for each, value in pairs if each.arg == name]
        elif isinstance(node, ast.keyword) and node.arg == name:
            found.append(node.value)
    values = []
    for each in found:
        try:
            values.append(ast.literal_eval(each))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
    return values
