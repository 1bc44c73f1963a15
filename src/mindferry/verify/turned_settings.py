"""Numbers in attributes, turned on both sides as a training loop may: a temperature of 1 or a share of 0 hides what is done with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..artifacts import Gap
from .variants import TURNED

LAYERS = ("mindspore.nn.layer.", "mindspore.mint.nn.", "ms_compat", "ms_keras")  # of others: they keep numbers twice
NAMED = 4  # attributes in one line


def turnable(cells: Iterable[tuple[str, Any]], attributes: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """`path.name` -> another number, for each that both sides keep under one name, in classes that stand on no layer of a framework.

    `attributes`: those of the reference's modules, by path.
    """
    found = {}
    for path, cell in cells:
        if not _stands_alone(type(cell)):
            continue
        for name, value in attributes.get(path, {}).items():
            if type(value) is float and vars(cell).get(name) == value:
                found[f"{path}.{name}".lstrip(".")] = value * 1.25 + 0.25
    return found


def _stands_alone(kind: type) -> bool:
    return not any(base.__module__.startswith(LAYERS) for base in kind.__mro__)


@contextlib.contextmanager
def turned(modules: Iterable[tuple[str, Any]], values: Mapping[str, float]) -> Iterator[None]:
    """The network with these numbers; afterwards with its own."""
    held = []
    for path, module in modules if values else ():
        for name in list(vars(module)):
            place = f"{path}.{name}".lstrip(".")
            if place in values:
                held.append((vars(module), name, vars(module)[name]))
                vars(module)[name] = values[place]
    try:
        yield
    finally:
        for attributes, name, value in held:
            attributes[name] = value


def described(values: Mapping[str, float]) -> str:
    listed = [f"{name} = {value:g}" for name, value in values.items()]
    return f"{TURNED}: {', '.join(listed[:NAMED])}{' …' if len(listed) > NAMED else ''}"


def gap_of_turned(said: str, problem: str = "") -> Gap:
    """That the sides part there is no fault of theirs on what was asked for."""
    why = problem or "the two sides give other values with these numbers: a loop may turn them"
    return Gap("setting", said, "not comparable", why)
