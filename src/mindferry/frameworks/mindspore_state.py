"""What a run changes in a cell without an optimizer, put back: statistics, and tensors that are attributes."""

from __future__ import annotations

from typing import Any

from .mindspore_tensors import as_numpy, is_activation

Cell = Any
State = list[tuple[Cell, str, Any, Any]]  # owner, attribute, tensor, value


def state_of(cell: Cell) -> State:
    """Parameters that take no gradient, and plain tensors: the buffers of the converted network."""
    found = [
        (cell, "", parameter, as_numpy(parameter).copy())
        for parameter in cell.get_parameters()
        if not parameter.requires_grad
    ]
    for _, owner in cell.cells_and_names():
        plain = [
            (name, value)
            for name, value in (*vars(owner).items(), *owner.named_buffers(recurse=False))
            if is_activation(value)
        ]
        found += [(owner, name, tensor, as_numpy(tensor).copy()) for name, tensor in plain]
    return found


def restore(state: State) -> None:
    """Every run starts from the same values, whether the last one assigned to a tensor or bound a new one."""
    import mindspore as ms
    import numpy as np

    for owner, name, tensor, value in state:
        if not name:
            tensor.set_data(ms.Tensor(value).astype(tensor.dtype))
            continue
        if getattr(owner, name, None) is not tensor:
            setattr(owner, name, tensor)
        if not np.array_equal(as_numpy(tensor), value):
            ms.ops.assign(tensor, ms.Tensor(value).astype(tensor.dtype))
