"""The same inputs in another batch size, or longer: for networks that are called again, and for those that fit only what they were tried on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .capture import is_tensor

Tensor = Any  # torch.Tensor
Inputs = list[tuple[str, Any]]
LONGER = 2  # times the length of a sequence, and one more
LIGHT_INPUTS = 1 << 15  # elements, up to which batch and sizes change one by one, and values on all samples


def sizes(inputs: Inputs) -> list[tuple[str, Inputs]]:
    """Another number of samples, and longer ones, for a network that is called again; of light inputs alone."""
    tensors = [value for _, value in inputs if is_tensor(value) and value.ndim]
    if not tensors or sum(value.numel() for value in tensors) > LIGHT_INPUTS:
        return []
    batch = len(tensors[0])
    other = [(f"batch of {batch + 1}", with_batch(inputs, batch, batch + 1))] if tensors[0].ndim > 1 and batch else []
    return [*other, *lengthened(inputs, first_tensor(inputs))]


def first_tensor(inputs: Inputs) -> Tensor:
    return next(value for _, value in inputs if is_tensor(value) and value.ndim)


def lengthened(inputs: Inputs, first: Tensor) -> Iterator[tuple[str, Inputs]]:
    """A sequence more than twice as long: a window, or a table that ends, shows there. Images are left as they are."""
    for axis in range(1, first.ndim) if first.ndim < 4 else ():
        if first.shape[axis] > 2:
            chosen = {axis: LONGER * first.shape[axis] + 1}
            yield described_size(chosen, first), with_sizes(inputs, first, chosen)


def described_size(chosen: dict[int, int], first: Tensor) -> str:
    sizes = [chosen.get(axis, size) for axis, size in enumerate(first.shape)]
    return f"size {'×'.join(map(str, sizes))}"


def with_batch(inputs: Inputs, old: int, new: int) -> Inputs:
    return [
        (name, taken_from_start(value, 0, new) if is_tensor(value) and value.ndim and value.shape[0] == old else value)
        for name, value in inputs
    ]


def with_sizes(inputs: Inputs, first: Tensor, chosen: dict[int, int]) -> Inputs:
    """The first tensor along these axes; the others wherever they are as long."""
    sizes = {first.shape[axis]: size for axis, size in chosen.items()}
    found = []
    for name, value in inputs:
        if is_tensor(value) and value.ndim:
            axes = chosen if value is first else {a: sizes[s] for a, s in enumerate(value.shape) if a and s in sizes}
            for axis, size in axes.items():
                value = taken_from_start(value, axis, size)
        found.append((name, value))
    return found


def taken_from_start(tensor: Tensor, axis: int, size: int) -> Tensor:
    """The first `size` along an axis; what is missing, from the start again, moved on by one so that no two are alike."""
    import torch

    old = tensor.shape[axis]
    if size <= old:
        return tensor.narrow(axis, 0, size).clone()
    pieces = [tensor]
    while sum(piece.shape[axis] for piece in pieces) < size:
        last = -1 if axis != tensor.ndim - 1 else 0
        pieces.append(torch.roll(pieces[-1], 1, last))
    return torch.cat(pieces, axis).narrow(axis, 0, size).clone()
