"""Options of Keras and TensorFlow that a helper does not know: given as a literal, they are a finding and not an error at run time."""

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
        value = call.literal(name, option.known[0])
        if value is not ... and not any(value is each or value == each for each in option.known):
            call.leave(f"the helper does not know {name}={value!r}", option.advice)
            return
