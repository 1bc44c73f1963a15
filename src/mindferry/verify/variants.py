"""The same inputs in another batch size, in other sizes, far larger and far smaller: a network that fits only what it was tried on is found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from .capture import is_tensor
from .other_sizes import (
    LIGHT_INPUTS,
    Inputs,
    Tensor,
    described_size,
    first_tensor,
    lengthened,
    with_batch,
    with_sizes,
)

Values = Callable[[Inputs, list[Tensor]], list[tuple[str, Inputs]]]
FAR = 100.0  # times the values: where a clamp, a threshold or another branch of a function begins
NEAR = 1e-3  # times the values: where an epsilon counts
GROSS = 1e-2  # what counts as different there: rounding is judged on the inputs that were asked for
VALUES = "values times"
WEIGHTS = "weights times"
TURNED = "other numbers in attributes"
METHOD = "method "
WITHOUT = "without "
BETWEEN = "numbers right between two whole ones"
BELOW = "whole numbers below zero"
HUGE = "whole numbers beyond 32 bits"
TIES = "ties in each sample"
MORE = "an entry more"
ORDER = "the other order"
TYPED = "inputs of type"
AWAY = "values plus"
GRADIENTS = "gradients"
STEP = "a step with"
TRAINING = "in training, "  # before what is computed in train mode
MOST = 64  # samples, so that a table of whole numbers is gone through
TIED = 3  # numbers that differ
MANY = 33  # samples of light inputs, at once


def variants(inputs: Inputs) -> list[list[tuple[str, Inputs]]]:
    """Groups of (description, inputs); of each group the first that the reference takes is compared."""
    tensors = [value for _, value in inputs if is_tensor(value) and value.ndim]
    if not tensors:
        return []
    batch = tensors[0].shape[0]
    has_batch = tensors[0].ndim > 1 and batch > 0
    is_light = sum(value.numel() for value in tensors) <= LIGHT_INPUTS
    few = 2 if is_light else 1
    small = with_batch(inputs, batch, few) if batch > few and has_batch else inputs
    first = first_tensor(small)
    groups = _sizes(inputs, small, batch, is_light) if has_batch else [list(in_other_size(small, first))]
    groups += [list(lengthened(small, first))]
    light = inputs if is_light else small
    resized = [] if is_light or batch == few or not has_batch else list(in_other_size(small, first))[:1]
    groups += [
        [*_on_tried(resized, tensors, values), *values(light, tensors)] for values in (_with_far_values, _near_zero)
    ]
    groups += [_in_turn(inputs, batch, tensors)]
    groups += [_turned(light), _all_least(light, tensors), _all_padded(light, tensors)]
    return [group for group in groups if group]


def _on_tried(resized: list[tuple[str, Inputs]], tensors: list[Tensor], values: Values) -> Iterator[tuple[str, Inputs]]:
    """Other values in the size that was tried before: of a large network, every size that is new costs as much as a run."""
    for size, inputs in resized:
        for said, given in values(inputs, tensors):
            yield f"{said}, {size}", given


def _sizes(inputs: Inputs, small: Inputs, batch: int, is_light: bool) -> list[list[tuple[str, Inputs]]]:
    """Another batch size, and other sizes: both at once where a run is not for nothing, if the reference takes that."""
    count = 1 if batch > 1 else 3
    other = with_batch(inputs, batch, count)
    alone, resized = [(f"batch of {count}", other)], list(in_other_size(small, first_tensor(small)))
    if is_light:
        is_cheap = (
            batch < MANY and sum(value.numel() for _, value in other if is_tensor(value)) * MANY <= count * LIGHT_INPUTS
        )
        many = [[(f"batch of {MANY}", with_batch(inputs, batch, MANY))]] if is_cheap else []
        return [alone, *many, resized]
    return [[*in_other_size(other, first_tensor(other)), *alone, *resized]]


def _with_far_values(inputs: Inputs, tensors: list[Tensor]) -> list[tuple[str, Inputs]]:
    """Numbers far from zero; whole numbers twice as large and odd, where a table has so many rows. On two samples, if possible."""
    batch = first_tensor(inputs).shape[0]
    has_numbers = any(value.is_floating_point() and value.numel() for value in tensors)
    factors = (-FAR, FAR) if has_numbers else (1.0,)
    sizes = [2, batch] if tensors[0].ndim > 1 and batch > 2 else [batch]
    found = []
    for is_whole in (True, False) if _has_whole(tensors) else (False,):
        for factor in factors if has_numbers or is_whole else ():
            for size in sizes:
                said = f"{VALUES} {factor:g}" + (", whole numbers times 2 plus 1" if is_whole else "")
                given = with_batch(inputs, batch, size) if size != batch else inputs
                found.append((f"{said}, batch of {size}", _with_values(given, factor, is_whole)))
    return found


def _near_zero(inputs: Inputs, tensors: list[Tensor]) -> list[tuple[str, Inputs]]:
    if not any(value.is_floating_point() and value.numel() for value in tensors):
        return []
    near = _with_values(inputs, NEAR, False)
    said = f"near zero, times {NEAR:g}"
    return [(f"{said}, and a zero in each sample", [(name, _with_zero(value)) for name, value in near]), (said, near)]


def with_gaps(inputs: Inputs) -> list[list[tuple[str, Inputs]]]:
    """For a network that knows what to do with what is no number: that, what is infinite, and a sample from which it may come."""
    gaps = [(f"{said} in each sample", value) for said, value in (("a NaN", math.nan), ("an infinity", math.inf))]
    groups = [[(said, [(name, _with_zero(value, put)) for name, value in inputs])] for said, put in gaps]
    empty = [(name, _with_empty_sample(value)) for name, value in inputs]
    return [*groups, [("a sample of zeros", empty)]]


def _with_empty_sample(value: Any) -> Any:
    if not (is_tensor(value) and value.is_floating_point() and value.ndim > 1 and len(value)):
        return value
    changed = value.clone()
    changed[0] = 0.0
    return changed


def between_whole(inputs: Inputs, rounds: bool) -> list[list[tuple[str, Inputs]]]:
    """Whole numbers below zero, as they count from the end of a table; for a network that rounds, numbers right between two whole ones too."""
    halves = [(name, _halves(value)) for name, value in inputs]
    below = [(name, -value - 1 if _is_whole(value) and not _is_mask(value) else value) for name, value in inputs]
    has_numbers = any(is_tensor(value) and value.is_floating_point() for _, value in inputs)
    has_whole = any(_is_whole(value) and not _is_mask(value) for _, value in inputs)
    huge = [(name, (value << 32) + value if _is_long(value) else value) for name, value in inputs]
    has_long = has_whole and any(_is_long(value) for _, value in inputs)
    found = [(has_numbers and rounds, BETWEEN, halves), (has_whole, BELOW, below), (has_long and rounds, HUGE, huge)]
    return [[(said, given)] for is_wanted, said, given in found if is_wanted]


def with_ties(inputs: Inputs) -> list[list[tuple[str, Inputs]]]:
    """For a network that chooses or sorts: of numbers that are equal, one comes first."""
    tied = [(name, (_halves(value) % TIED) if _is_ranked(value) else value) for name, value in inputs]
    return [[(TIES, tied)]] if any(_is_ranked(value) for _, value in inputs) else []


def _is_ranked(value: Any) -> bool:
    return is_tensor(value) and value.is_floating_point() and value.ndim > 1 and value.numel() > 0


def _is_long(value: Any) -> bool:
    return _is_whole(value) and str(value.dtype) == "torch.int64" and not _is_mask(value)


def _halves(value: Any) -> Any:
    """In the order of the numbers that were given, on both sides of zero; up to 64 in a sample no two are alike."""
    import torch

    if not (is_tensor(value) and value.is_floating_point() and value.ndim > 1 and value.numel()):
        return value
    ranks = value.reshape(len(value), -1).argsort(-1).argsort(-1)
    count = min(ranks.shape[-1], MOST)
    return (ranks % count - count // 2 + 0.5).to(torch.float32).reshape(value.shape)


def without_labels(inputs: Inputs, number: int) -> list[tuple[str, Inputs]]:
    """For a network that computes its loss: every second label, the first among them, is one that a loss ignores.

    Labels come last, mostly: of several inputs of whole numbers each is tried.
    """
    found = []
    for index in reversed([index for index, (_, value) in enumerate(inputs) if _is_whole(value) and value.numel()]):
        name, value = inputs[index]
        changed = value.clone().reshape(-1)
        changed[::2] = number
        given = [*inputs[:index], (name, changed.reshape(value.shape)), *inputs[index + 1 :]]
        found.append((f"every second label {number} in input {index + 1}", given))
    return found


def _with_zero(value: Any, put: float = 0.0) -> Any:
    """One zero a sample, where a sign or a quotient is another; two would leave open which is the larger."""
    if not (is_tensor(value) and value.is_floating_point() and value.ndim > 1 and value[0].numel() > 1):
        return value
    changed = value.clone().reshape(len(value), -1)
    changed[:, 1] = put
    return changed.reshape(value.shape)


def _turned(inputs: Inputs) -> list[tuple[str, Inputs]]:
    """Truth values the other way round; those of the last column alone, where all of them are too many."""
    if not any(_is_mask(value) for _, value in inputs):
        return []
    whole = [(name, _negated(value) if _is_mask(value) else value) for name, value in inputs]
    last = [(name, _with_last(value, _negated(value)) if _is_mask(value) else value) for name, value in inputs]
    return [("masks turned round", whole), ("the last of every mask turned round", last)]


def _is_mask(value: Any) -> bool:
    """Truth values, or zeros and ones that may stand for them."""
    if not is_tensor(value) or not value.ndim or not value.numel():
        return False
    return str(value.dtype) == "torch.bool" or (_is_whole(value) and int(value.min()) >= 0 and int(value.max()) <= 1)


def _negated(value: Tensor) -> Tensor:
    return ~value if str(value.dtype) == "torch.bool" else 1 - value


def _with_last(value: Tensor, other: Tensor) -> Tensor:
    changed = value.clone()
    changed[..., -1] = other[..., -1]
    return changed


def _in_turn(inputs: Inputs, batch: int, tensors: list[Tensor]) -> list[tuple[str, Inputs]]:
    """Every whole number from the least to the largest that was given, if need be on more samples: a threshold is met."""
    if not _has_whole(tensors):
        return []
    said = "whole numbers in turn"
    found = [(said, [(name, _counted(value)) for name, value in inputs])]
    whole = [value for value in tensors if _is_whole(value) and value.numel() and value.shape[0] == batch]
    wanted = max((_span(value) * batch // value.numel() + 1 for value in whole), default=0)
    if batch < wanted <= MOST and tensors[0].ndim > 1:
        more = [(name, _counted(value)) for name, value in with_batch(inputs, batch, wanted)]
        found.insert(0, (f"{said}, batch of {wanted}", more))
    return found


def _all_least(inputs: Inputs, tensors: list[Tensor]) -> list[tuple[str, Inputs]]:
    """Whole numbers beside others may be labels: none that says "here" is a batch without a target."""
    if not (_has_whole(tensors) and any(value.is_floating_point() for value in tensors)):
        return []
    least = [(name, value * 0 + value.min() if _is_whole(value) and value.numel() else value) for name, value in inputs]
    return [("whole numbers all the least", least)]


def _all_padded(inputs: Inputs, tensors: list[Tensor]) -> list[tuple[str, Inputs]]:
    """Of whole numbers alone, all of them zero: mostly, that is what fills up a text."""
    if not _has_whole(tensors) or any(value.is_floating_point() for value in tensors):
        return []
    return [("whole numbers all zero", [(name, value * 0 if _is_whole(value) else value) for name, value in inputs])]


def _counted(value: Any) -> Any:
    import torch

    if not _is_whole(value) or not value.numel():
        return value
    least, count = int(value.min()), torch.arange(value.numel(), dtype=value.dtype)
    return (count % _span(value) + least).reshape(value.shape)


def _span(value: Tensor) -> int:
    return int(value.max()) - int(value.min()) + 1


def _is_whole(value: Any) -> bool:
    return is_tensor(value) and str(value.dtype) in ("torch.int64", "torch.int32")


def _has_whole(tensors: list[Tensor]) -> bool:
    return any(_is_whole(value) and value.numel() for value in tensors)


def is_far(said: str) -> bool:
    """Whether a variant is about values, weights or settings that nobody asked for; only gross differences count there."""
    return is_gradient(said) or said.startswith((VALUES, WEIGHTS, TURNED, TYPED, AWAY))


def is_other_kind(said: str) -> bool:
    """Whether a variant is one of other_kinds.py or of trained_inputs.py."""
    return is_gradient(said) or said.startswith((MORE, ORDER, TYPED, AWAY))


def is_typed(said: str) -> bool:
    return said.startswith(TYPED)


def is_gradient(said: str) -> bool:
    """Whether gradients are compared too, and not the outputs alone."""
    return said.removeprefix(TRAINING).startswith((GRADIENTS, STEP))


def mode_of(said: str) -> str:
    return "train" if said.startswith(TRAINING) else "eval"


def floor_on(said: str, floor: float) -> float:
    """What an error may be on a variant of the inputs."""
    return max(floor, GROSS) if is_far(said) else floor


def _with_values(inputs: Inputs, factor: float, is_whole: bool) -> Inputs:
    def moved(value: Any) -> Any:
        if is_tensor(value) and value.is_floating_point():
            return value * factor
        return value * 2 + 1 if is_whole and _is_whole(value) else value

    return [(name, moved(value)) for name, value in inputs]


def in_other_size(inputs: Inputs, first: Tensor) -> Iterator[tuple[str, Inputs]]:
    if first.ndim >= 4:
        chosen = {
            axis: size + (1 if axis % 2 else -1) for axis, size in enumerate(first.shape) if axis >= 2 and size > 2
        }
        if chosen:
            yield described_size(chosen, first), with_sizes(inputs, first, chosen)
    else:
        for axis in range(1, first.ndim):
            if first.shape[axis] > 2:
                chosen = {axis: first.shape[axis] - 1}
                yield described_size(chosen, first), with_sizes(inputs, first, chosen)
