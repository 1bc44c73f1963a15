"""Columns of an output that are far smaller than others: scores beside coordinates. Their errors are measured on their own scale.

Measured against a coordinate of 640, a score that is off by 3e-3 would pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .scale import apart, scale_of

if TYPE_CHECKING:
    from .recorder import Recorder

Tensor = Any  # torch.Tensor
APART = 16.0  # times smaller than the next larger column: not by chance
FEWEST = 4  # elements of a group: the largest of fewer says little
MOST = 4096  # columns that are looked at
ROUNDED = 1e-2  # of its scale: a column that torch's float32 misses by more is what is left of larger numbers


def small_columns(tensor: Tensor) -> list[tuple[int, list[int]]]:
    """(axis, columns) of each group along the last axis, or along the channels, that is far below the others."""
    if not tensor.is_floating_point() or tensor.ndim < 2 or not tensor.numel():
        return []
    axes = [tensor.ndim - 1] if tensor.ndim == 2 else [tensor.ndim - 1, 1]
    return [(axis, group) for axis in dict.fromkeys(axes) for group in _groups(tensor, axis)]


def _groups(tensor: Tensor, axis: int) -> list[list[int]]:
    import torch

    count = tensor.shape[axis]
    if not 1 < count <= MOST:
        return []
    sizes = torch.nan_to_num(tensor.detach().abs(), nan=0.0, posinf=0.0).movedim(axis, 0).reshape(count, -1)
    largest, order = sizes.amax(1).sort(descending=True)
    groups: list[list[int]] = [[]]
    above = 0.0
    for size, column in zip(largest.tolist(), order.tolist(), strict=True):
        if not size:
            break
        if size * APART < above:
            groups.append([])
        groups[-1].append(column)
        above = size
    return [sorted(group) for group in groups[1:] if len(group) * sizes.shape[1] >= FEWEST]


def chosen(tensor: Tensor, axis: int, columns: list[int]) -> Tensor:
    """The columns alone."""
    import torch

    return tensor.index_select(axis, torch.tensor(columns, device=tensor.device))


def column_error(right: Tensor, tensor: Tensor, axis: int, columns: list[int], measure: dict[str, float]) -> float:
    """How far float32 is from these columns.

    The logarithm of a probability near 1 is left over from a difference of large numbers. How they round is chance, and one run
    of torch's shows little of it: it is off by their last digit at least.
    """
    import torch

    found = apart(chosen(right, axis, columns), chosen(tensor, axis, columns), measure)
    if found <= ROUNDED * measure["scale"]:
        return found
    largest = float(torch.nan_to_num(right.abs(), nan=0.0, posinf=0.0, neginf=0.0).max())
    return max(found, float(torch.finfo(torch.float32).eps) * largest)


def find_columns(recorder: Recorder, mode: str, facts: dict[str, Any]) -> None:
    """Columns of the outputs that are far smaller than others."""
    for index, key in enumerate(facts["outputs"]):
        tensor = recorder.writer.read(key)
        for axis, columns in small_columns(tensor):
            place = f"{mode}/columns.{index}.{axis}.{columns[0]}"
            facts["columns"].append([index, axis, columns, place])
            recorder.errors[place] = scale_of(chosen(tensor, axis, columns))


def measure_columns(recorder: Recorder, which: str, outputs: list[Tensor], facts: dict[str, Any]) -> None:
    """How far float32 is from them."""
    for index, axis, columns, place in facts["columns"]:
        if index < len(outputs):
            right, tensor = recorder.writer.read(facts["outputs"][index]), outputs[index].detach()
            found = column_error(right, tensor, axis, columns, recorder.errors[place])
            recorder.errors[place][which] = max(found, recorder.errors[place].get(which, 0.0))
