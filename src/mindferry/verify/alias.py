"""The same torch tensor under another name, for whoever stands outside a module: its gradient is what arrives from there alone."""

from __future__ import annotations

from functools import cache
from typing import Any

Tensor = Any  # torch.Tensor


def alias(tensor: Tensor) -> Tensor:
    """Same memory, same gradient. Not a view: a hook on a view is lost when the view is changed in place."""
    return _kind().apply(tensor)


@cache
def _kind() -> Any:
    import torch

    class Alias(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, tensor: Tensor) -> Tensor:
            return tensor.detach()

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return gradient

    return Alias
