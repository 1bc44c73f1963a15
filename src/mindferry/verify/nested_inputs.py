"""Inputs inside of a list, a tuple or a dictionary: each is named by the way to it, and they are put together for the call.

`state(0)` is the first of a tuple, `layers[2]` the third of a list, `batch{'x'}` one of a dictionary;
`*1(0)` lies in the second positional argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

NESTED = re.compile(r"(\*\d+|\w+)((?:\[\d+\]|\(\d+\)|\{'[^']*'\})+)")
_STEP = re.compile(r"\[\d+\]|\(\d+\)|\{'[^']*'\}")


class _Container(dict[str, Any]):
    """Steps, such as "[0]", and what they lead to."""


def call(network: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    """`network` on its inputs, those with a way for a name as parts of what they lie in."""
    ways = {name: match for name in named if (match := NESTED.fullmatch(name)) is not None}
    if not ways:
        return network(*positional, **named)
    roots = _Container()
    for name, match in ways.items():
        at, steps = roots, [match[1], *_STEP.findall(match[2])]
        for step in steps[:-1]:
            at = at.setdefault(step, _Container())
        at[steps[-1]] = named[name]
    args, kwargs = [*positional], {name: value for name, value in named.items() if name not in ways}
    for root, held in roots.items():
        if root.startswith("*"):
            args.insert(int(root[1:]), _built(held))
        else:
            kwargs[root] = _built(held)
    return network(*args, **kwargs)


def _built(held: Any) -> Any:
    if not isinstance(held, _Container):
        return held
    kind = next(iter(held))[0]
    if kind == "{":
        return {step[2:-2]: _built(value) for step, value in held.items()}
    items = [_built(value) for value in held.values()]
    return tuple(items) if kind == "(" else items
