"""Inputs of another kind than was asked for, where the reference takes them: other types, an entry more, another order, numbers far from
zero. A difference there is listed, and called nothing worse."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from .other_sizes import LIGHT_INPUTS, Inputs
from .variants import AWAY, MORE, ORDER, TYPED

Tensor = Any  # torch.Tensor
OFFSET = 1000.0  # added to every number: a variance as a mean of squares cancels there
BYTES = 255
_ENTRY = re.compile(r"(.*)\[(\d+)\]")
_KEY = re.compile(r"(\w+|\*\d+)\{'[^']*'\}")


def other_kinds(model: Any, inputs: Inputs) -> Iterator[list[tuple[str, Inputs]]]:
    """Groups, as those of variants.py."""
    if sum(value.numel() for _, value in inputs if _is_tensor(value)) > LIGHT_INPUTS:
        return
    if any(_has_numbers(value) for _, value in inputs):
        yield [(f"{AWAY} {OFFSET:g}", [(n, v + OFFSET if _has_numbers(v) else v) for n, v in inputs])]
    yield [*_an_entry_more(model, inputs)]
    yield [*_another_order(inputs)]
    yield from ([each] for each in _other_types(inputs))


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _has_numbers(value: Any) -> bool:
    return _is_tensor(value) and value.is_floating_point() and value.numel() > 0


def _an_entry_more(model: Any, inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """One more in each list, and one more behind a star."""
    lists: dict[str, int] = {}
    for name, value in inputs:
        if _is_tensor(value) and (found := _ENTRY.fullmatch(name)) is not None:
            lists[found[1]] = int(found[2])
    values = dict(inputs)
    for way, last in lists.items():
        yield f"{MORE} in {way}", [*inputs, (f"{way}[{last + 1}]", _rolled(values[f"{way}[{last}]"]))]
    positional = [value for name, value in inputs if not name]
    if positional and _is_tensor(positional[-1]) and _is_behind_star(model, len(positional)):
        index = max(number for number, (name, _) in enumerate(inputs) if not name) + 1
        yield f"{MORE} behind a star", [*inputs[:index], ("", _rolled(positional[-1])), *inputs[index:]]


def _is_behind_star(model: Any, count: int) -> bool:
    """Whether the last of so many arguments is one of those that forward takes any number of."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        return False
    star = next((index for index, each in enumerate(parameters) if each.kind is each.VAR_POSITIONAL), None)
    return star is not None and count > star


def _rolled(value: Tensor) -> Tensor:
    return value.roll(1, -1) if value.ndim else value.clone()


def _another_order(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Keys of dictionaries the other way round, where a network may go through them."""
    roots = [found[1] for name, _ in inputs if (found := _KEY.fullmatch(name)) is not None]
    if len(roots) > len(set(roots)):
        yield f"{ORDER} of keys", list(reversed(inputs)) if all(name for name, _ in inputs) else _turned(inputs)


def _turned(inputs: Inputs) -> Inputs:
    return [*((name, value) for name, value in inputs if not name), *reversed([each for each in inputs if each[0]])]


def _other_types(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """The same numbers, as far as the type holds them."""
    import torch

    ways: list[tuple[str, Callable[[Tensor], bool], Callable[[Tensor], Tensor]]] = [
        ("float16", _has_numbers, lambda v: v.to(torch.float16)),
        ("float64", _has_numbers, lambda v: v.to(torch.float64)),
        ("uint8", _has_numbers, lambda v: (v.abs() * 50).clamp(max=BYTES).to(torch.uint8)),
        ("int32", _is_long, lambda v: v.to(torch.int32)),
        ("bool", _is_mask, lambda v: v.to(torch.bool)),
        ("float32", _is_mask, lambda v: v.to(torch.float32)),
    ]
    for kind, fits, made in ways:
        if any(fits(value) for _, value in inputs):
            yield f"{TYPED} {kind}", [(name, made(value) if fits(value) else value) for name, value in inputs]


def _is_long(value: Any) -> bool:
    import torch

    return _is_tensor(value) and value.dtype == torch.int64 and value.numel() > 0


def _is_mask(value: Any) -> bool:
    return _is_long(value) and int(value.min()) >= 0 and int(value.max()) <= 1
