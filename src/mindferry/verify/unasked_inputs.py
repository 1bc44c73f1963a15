"""Inputs that nobody asked for and a network takes: arguments that were left to their defaults, more samples than it takes at once, an axis more."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

from ..artifacts import Gap
from ..frameworks.named_in_code import is_torchs
from .other_sizes import LIGHT_INPUTS, Inputs, described_size, first_tensor, with_batch, with_sizes
from .surroundings import forward_codes
from .variants import AWAY, BELOW, GRADIENTS, HUGE, MANY, MORE, ORDER, TIES, TRAINING, TYPED, WITHOUT

AXIS = "an axis more"
CAUSES = {
    AXIS: "an axis may be counted from the other end",
    BELOW: "a division may go the other way, or a number count from the end",
    HUGE: "a number may be cut to 32 bits",
    TIES: "another one of equal numbers may come first",
    MORE: "it may use as many as were given, and no more",
    ORDER: "the reference may go through them as they come",
    TYPED: "another type may come out of it, or less of the numbers be kept",
    AWAY: "a difference of large numbers may keep less of them",
    GRADIENTS: "a function may have another gradient right there",
    f"{TRAINING}{GRADIENTS}": "what training computes, or its gradient, may be another function there",
}
ROWS = 3  # along the axis more
LONG, SHORTER = 257, 65  # of a sequence that is far longer than those given
LARGEST = 1024  # a number of samples that a network may take at once


def unasked(model: Any, inputs: Inputs) -> list[list[tuple[str, Inputs]]]:
    """Groups, as those of variants.py."""
    arguments = (*_arguments(model, inputs), *_left_out(model, inputs))
    alone = [[each] for each in (*arguments, *_pieces(model, inputs), *_axis_more(inputs))]
    return [*alone, [*_far_lengths(model, inputs)]]


def gap_of(said: str, passed: bool) -> Gap | None:
    """A network that was made for other axes need not stand these: a difference there is listed and called nothing worse."""
    cause = next((cause for start, cause in CAUSES.items() if said.startswith(start)), "")
    if passed or not cause:
        return None
    why = f"the reference takes such inputs, and the conversion gives other values there: {cause}"
    return Gap("inputs", said, "not comparable", why)


def _arguments(model: Any, inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Each argument with a plain default that the inputs leave to it: a factor of 1 or an offset of 0 hides what is done with it."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        return
    given = {name.partition("[")[0].partition("{")[0].partition("(")[0] for name, _ in inputs if name}
    positional = sum(not name for name, _ in inputs)
    for index, each in enumerate(parameters):
        is_left = index >= positional or each.kind is each.KEYWORD_ONLY
        if is_left and each.name not in given and isinstance(each.default, bool | int | float):
            value = other_value(each.default)
            yield f"{each.name}={value!r}, which is {each.default!r} by default", [*inputs, (each.name, value)]


def _left_out(model: Any, inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Without each input that forward has a default for, the last of the positional ones among them: a mask, labels."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        return
    optional = {each.name for each in parameters if each.default is not each.empty}
    optional |= {each.name for each in parameters if each.kind is each.VAR_POSITIONAL}
    positional = [index for index, (name, _) in enumerate(inputs) if not name]
    for index, (name, _) in enumerate(inputs):
        is_last = bool(positional) and index == positional[-1] and bool(parameters)
        given = name or (parameters[min(len(positional), len(parameters)) - 1].name if is_last else "")
        if given in optional and len(inputs) > 1:
            yield f"{WITHOUT}{given}", [*inputs[:index], *inputs[index + 1 :]]


def other_value(value: float) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value * 1.25 + 0.25


def _pieces(model: Any, inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """One sample more than a number that the network's own code or attributes hold: it may take so many at once."""
    import torch

    tensors = [value for _, value in inputs if isinstance(value, torch.Tensor) and value.ndim > 1 and len(value)]
    numbers = {number for number in _numbers(model) if MANY < number <= LARGEST}
    if not tensors or not numbers:
        return
    batch, samples = len(tensors[0]), max(numbers) + 1
    if sum(value.numel() for value in tensors) // batch * samples <= LIGHT_INPUTS:
        yield f"batch of {samples}", with_batch(inputs, batch, samples)


def _far_lengths(model: Any, inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Sequences far longer than those given, and longer than any number up to 1024 that the network's own code or attributes hold."""
    import torch

    tensors = [value for _, value in inputs if isinstance(value, torch.Tensor) and value.ndim]
    if not tensors or not 2 <= tensors[0].ndim <= 3 or not len(tensors[0]):
        return
    few = with_batch(inputs, len(tensors[0]), 2) if len(tensors[0]) > 2 else inputs
    first = first_tensor(few)
    numbers = [number + 1 for number in _numbers(model) if LONG <= number <= LARGEST]
    for axis in range(1, first.ndim):
        for length in dict.fromkeys((max(numbers, default=LONG), LONG, SHORTER)):
            is_light = first.numel() // max(1, first.shape[axis]) * length <= LIGHT_INPUTS
            if first.shape[axis] > 2 and length > 2 * first.shape[axis] + 1 and is_light:
                yield described_size({axis: length}, first), with_sizes(few, first, {axis: length})


def _numbers(model: Any) -> Iterator[int]:
    """Whole numbers in attributes of the network's own classes, and in the code of their forward."""
    for module in model.modules():
        if not is_torchs(module):
            yield from (value for value in vars(module).values() if type(value) is int)
    for code in forward_codes(model):
        yield from _numbers_in(code)


def _numbers_in(code: CodeType) -> Iterator[int]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _numbers_in(each)
        elif type(each) is int:
            yield each


def _axis_more(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """Of one tensor of numbers with two or three axes: layers such as Linear take any."""
    import torch

    if len(inputs) != 1 or not isinstance(inputs[0][1], torch.Tensor):
        return
    name, value = inputs[0]
    if value.is_floating_point() and value.ndim in (2, 3) and value.numel() * ROWS <= LIGHT_INPUTS:
        rows = torch.stack([torch.roll(value, number, -1) for number in range(ROWS)], 1)
        yield f"{AXIS}, {'×'.join(map(str, rows.shape))}", [(name, rows)]
