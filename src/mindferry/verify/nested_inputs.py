"""Inputs inside of a list, a tuple or a dictionary: each is named by the way to it, and they are put together for the call.

`state(0)` is the first of a tuple, `layers[2]` the third of a list, `batch{'x'}` one of a dictionary;
`*1(0)` lies in the second positional argument. `batch{pkg.data:Batch.x}` is an attribute of an object of the project's class,
`batch{pkg.data:Bag['x']}` an item of one that is a dictionary too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_OBJECT = re.compile(r"\{([\w.]+:\w+)(?:\.(\w+)|\['([^']*)'\])\}")
_STEP = re.compile(r"\[\d+\]|\(\d+\)|\{'[^']*'\}|\{[\w.]+:\w+(?:\.\w+|\['[^']*'\])\}")
NESTED = re.compile(rf"(\*\d+|\w+)((?:{_STEP.pattern})+)")


class _Container(dict[str, Any]):
    """Steps, such as "[0]", and what they lead to."""


def call(
    network: Callable[..., Any], positional: list[Any], named: dict[str, Any], reshaped: list[str] | None = None
) -> Any:
    """`network` on its inputs, those with a way for a name as parts of what they lie in.

    `reshaped` gets the names of what has other keys, or more or fewer parts, after the call.
    """
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
    built = {root: _built(held) for root, held in roots.items()}
    shapes = {root: _shape(value) for root, value in built.items()}
    for root, value in built.items():
        if root.startswith("*"):
            args.insert(int(root[1:]), value)
        else:
            kwargs[root] = value
    output = network(*args, **kwargs)
    if reshaped is not None:
        reshaped += [root for root, value in built.items() if _shape(value) != shapes[root]]
    return output


def _shape(value: Any) -> Any:
    """Keys and lengths of containers in containers."""
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items()}
    return [_shape(each) for each in value] if isinstance(value, list | tuple) else None


def _built(held: Any) -> Any:
    if not isinstance(held, _Container):
        return held
    first = next(iter(held))
    if (match := _OBJECT.fullmatch(first)) is not None:
        return _object(match[1], held)
    kind = first[0]
    if kind == "{":
        return {step[2:-2]: _built(value) for step, value in held.items()}
    items = [_built(value) for value in held.values()]
    return tuple(items) if kind == "(" else items


def _object(kind: str, held: _Container) -> Any:
    """One of the project's own class, made without its `__init__`."""
    from .named import find

    ways = [(match, value) for step, value in held.items() if (match := _OBJECT.fullmatch(step)) is not None]
    attributes = {match[2]: _built(value) for match, value in ways if match[2] is not None}
    made_by = find(kind)
    if issubclass(made_by, tuple):
        return made_by(**attributes)
    made = made_by.__new__(made_by)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    if isinstance(made, dict):
        made.update({match[3]: _built(value) for match, value in ways if match[3] is not None})
    return made
