"""In a MindSpore worker: cells that lose a tensor's rank when the batch size is open, exchanged for ones that keep it."""

from __future__ import annotations

from typing import Any


def keep_ranks(cell: Any) -> None:
    """nn.MaxPool2d with padding pools in three dimensions and squeezes one; of an open size, the compiler no longer knows that it is 1."""
    from mindspore import nn

    class MaxPool2d(nn.MaxPool2d):  # type: ignore[misc]
        def construct(self, x):  # type: ignore[no-untyped-def]
            return self.max_pool(x.unsqueeze(2))[0][:, :, 0]

    for _, each in cell.cells_and_names():
        if type(each) is nn.MaxPool2d and each.use_pad and not each.return_indices:
            each.__class__ = MaxPool2d
