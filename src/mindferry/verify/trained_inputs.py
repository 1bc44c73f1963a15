"""Other inputs on which gradients are compared, in train mode where the network asks for it: special points, large values, other sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..frameworks.named_in_code import asks_mode, chooses
from .capture import is_tensor
from .other_sizes import LIGHT_INPUTS, Inputs, first_tensor, lengthened, with_batch
from .variants import FAR, GRADIENTS, STEP, TRAINING, in_other_size

Group = list[tuple[str, Inputs]]
KINDS = 4  # numbers from -1 on: zeros, ones and others, each several times in a sample
SAMPLES = 5  # or as many and two


def trained_inputs(model: Any, inputs: Inputs) -> Iterator[Group]:
    """Groups, as those of variants.py. A function may have other gradients than its values tell, and be another one in training."""
    if sum(value.numel() for _, value in inputs if is_tensor(value)) > LIGHT_INPUTS:
        return
    has_mode = asks_mode(model)
    for group in (*_values(inputs, bool(chooses(model))), *_sizes(inputs, has_mode)):
        yield [(f"{TRAINING if has_mode else ''}{said}", given) for said, given in group]


def _values(inputs: Inputs, chooses: bool) -> Iterator[Group]:
    """`chooses`: which of equal numbers comes first is told elsewhere."""
    if not any(_has_numbers(value) for _, value in inputs):
        return
    special = [(name, _special(value, chooses)) for name, value in inputs]
    empty = [(name, _with_zeros(value)) for name, value in special]
    said = f"{GRADIENTS} at zeros and ones" + ("" if chooses else ", many of them equal")
    yield [(f"{said}, and of a sample of zeros", empty), (said, special)]
    yield [
        (f"{GRADIENTS} at values times {times:g}", [(n, v * times if _has_numbers(v) else v) for n, v in inputs])
        for times in (FAR, -FAR)
    ]


def _sizes(inputs: Inputs, has_mode: bool) -> Iterator[Group]:
    """Another number of samples and another size at once, else one of the two; a sample alone, where training may be something else."""
    tensors = [value for _, value in inputs if is_tensor(value) and value.ndim]
    if not tensors or tensors[0].ndim < 2 or not len(tensors[0]):
        return
    batch = len(tensors[0])
    count = SAMPLES if batch != SAMPLES else SAMPLES + 2
    other = with_batch(inputs, batch, count)
    both = [*lengthened(other, first_tensor(other)), *in_other_size(other, first_tensor(other))]
    alone = (f"batch of {count}", other)
    yield [(f"{STEP} {said}", given) for said, given in (*both, alone)]
    if has_mode and batch > 1:
        yield [(f"{STEP} batch of 1", with_batch(inputs, batch, 1))]


def _has_numbers(value: Any) -> bool:
    return is_tensor(value) and value.is_floating_point() and value.numel() > 0


def _special(value: Any, chooses: bool) -> Any:
    """Whole numbers from -1 on in the order of what was given; where the network chooses, no two alike in a sample."""
    if not (_has_numbers(value) and value.ndim > 1):
        return value
    ranks = value.reshape(len(value), -1).argsort(-1).argsort(-1)
    numbers = ranks - ranks.shape[-1] // 2 if chooses else ranks % KINDS - 1
    return numbers.to(value.dtype).reshape(value.shape)


def _with_zeros(value: Any) -> Any:
    if not (_has_numbers(value) and value.ndim > 1):
        return value
    changed = value.clone()
    changed[0] = 0.0
    return changed
