"""torch with a function computed as MindSpore's CPU kernel computes it, where that is known to be rough.

MindSpore's tanh is a rational function on a CPU: off by up to 1e-4 where the argument is between 4 and 5, flat beyond (apis/quirks.py). A
conversion that calls it is right, and not as close as float32 allows. Held against the same formula in torch, it is as close as
anything else; so nothing is forgiven that the kernel does not do.
"""

from __future__ import annotations

from functools import cache
from typing import Any

Tensor = Any  # torch.Tensor
ROUGH = frozenset(("tanh", "tanh_"))


@cache
def as_mindspore() -> Any:
    """A mode in which torch.tanh, Tensor.tanh and nn.Tanh are MindSpore's."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Rough(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, x: Tensor) -> Tensor:
            y = rough_tanh(x)
            context.save_for_backward(y)
            return y

        @staticmethod
        def backward(context: Any, *gradients: Tensor) -> Tensor:
            (y,) = context.saved_tensors
            return gradients[0] * (1 - y * y)

    class Kernels(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if getattr(function, "__name__", "") not in ROUGH or named.get("out") is not None:
                return function(*args, **named)
            given = args[0] if args else named["input"]
            if not given.is_floating_point():
                return function(*args, **named)
            found = Rough.apply(given)
            return given.copy_(found) if function.__name__ == "tanh_" else found

    return Kernels


def rough_tanh(x: Tensor) -> Tensor:
    import torch

    square = x * x
    above = (((square + 378) * square + 17325) * square + 135135) * x
    below = ((28 * square + 3150) * square + 62370) * square + 135135
    return torch.where(x > 5, torch.ones_like(x), torch.where(x < -5, -torch.ones_like(x), above / below))
