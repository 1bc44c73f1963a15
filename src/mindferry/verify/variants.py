"""The same inputs in another batch size, in other sizes and far larger: a network that fits only what it was tried on is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Tensor = Any  # torch.Tensor
Inputs = list[tuple[str, Any]]
FAR = 100.0  # times the values: where a clamp, a threshold or another branch of a function begins
GROSS = 1e-2  # what counts as different there: rounding is judged on the inputs that were asked for
LARGER = "values times"


def variants(inputs: Inputs) -> list[list[tuple[str, Inputs]]]:
    """Groups of (description, inputs); of each group the first that the reference takes is compared."""
    tensors = [value for _, value in inputs if _is_tensor(value) and value.ndim]
    if not tensors:
        return []
    batch = tensors[0].shape[0]
    groups = []
    if tensors[0].ndim > 1 and batch:
        count = 1 if batch > 1 else 3
        groups.append([(f"batch of {count}", _with_batch(inputs, batch, count))])
    small = _with_batch(inputs, batch, 2) if batch > 2 and tensors[0].ndim > 1 else inputs
    sizes = list(_resized(small, next(value for _, value in small if _is_tensor(value) and value.ndim)))
    return [group for group in (*groups, sizes, _larger(inputs, tensors)) if group]


def _larger(inputs: Inputs, tensors: list[Tensor]) -> list[tuple[str, Inputs]]:
    """Numbers far from zero; whole numbers twice as large and odd, where a table has so many rows."""
    has_numbers = any(value.is_floating_point() and value.numel() for value in tensors)
    has_indices = any(str(value.dtype) in ("torch.int64", "torch.int32") and value.numel() for value in tensors)
    factors = (-FAR, FAR) if has_numbers else (1.0,)
    found = []
    for is_whole in (True, False) if has_indices else (False,):
        for factor in factors if has_numbers or is_whole else ():
            said = f"{LARGER} {factor:g}" + (", whole numbers times 2 plus 1" if is_whole else "")
            found.append((said, _with_values(inputs, factor, is_whole)))
    return found


def floor_on(said: str, floor: float) -> float:
    """What an error may be on a variant of the inputs."""
    return max(floor, GROSS) if said.startswith(LARGER) else floor


def _with_values(inputs: Inputs, factor: float, is_whole: bool) -> Inputs:
    def moved(value: Any) -> Any:
        if _is_tensor(value) and value.is_floating_point():
            return value * factor
        is_index = is_whole and _is_tensor(value) and str(value.dtype) in ("torch.int64", "torch.int32")
        return value * 2 + 1 if is_index else value

    return [(name, moved(value)) for name, value in inputs]


def _resized(inputs: Inputs, first: Tensor) -> Iterator[tuple[str, Inputs]]:
    if first.ndim >= 4:
        chosen = {
            axis: size + (1 if axis % 2 else -1) for axis, size in enumerate(first.shape) if axis >= 2 and size > 2
        }
        if chosen:
            yield _described(chosen, first), _with_sizes(inputs, first, chosen)
    else:
        for axis in range(1, first.ndim):
            if first.shape[axis] > 2:
                chosen = {axis: first.shape[axis] - 1}
                yield _described(chosen, first), _with_sizes(inputs, first, chosen)


def _described(chosen: dict[int, int], first: Tensor) -> str:
    sizes = [chosen.get(axis, size) for axis, size in enumerate(first.shape)]
    return f"size {'×'.join(map(str, sizes))}"


def _with_batch(inputs: Inputs, old: int, new: int) -> Inputs:
    return [
        (name, _taken(value, 0, new) if _is_tensor(value) and value.ndim and value.shape[0] == old else value)
        for name, value in inputs
    ]


def _with_sizes(inputs: Inputs, first: Tensor, chosen: dict[int, int]) -> Inputs:
    """The first tensor along these axes; the others wherever they are as long."""
    sizes = {first.shape[axis]: size for axis, size in chosen.items()}
    found = []
    for name, value in inputs:
        if _is_tensor(value) and value.ndim:
            axes = chosen if value is first else {a: sizes[s] for a, s in enumerate(value.shape) if a and s in sizes}
            for axis, size in axes.items():
                value = _taken(value, axis, size)
        found.append((name, value))
    return found


def _taken(tensor: Tensor, axis: int, size: int) -> Tensor:
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


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)
