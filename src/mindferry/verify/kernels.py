"""torch with a function computed as MindSpore's CPU kernel computes it, where that is known to be rough.

MindSpore's tanh is a rational function on a CPU: off by up to 1e-4 where the argument is between 4 and 5, flat beyond (apis/quirks.py). Its
exp is a polynomial of the fifth degree, off by 50 roundings (3e-6) near zero and by 400 at 80: a sine of a thousand times that is off by 3e-3. A
conversion that calls it is right, and not as close as float32 allows. Held against the same formula in torch, it is as close as
anything else; so nothing is forgiven that the kernel does not do.
"""

from __future__ import annotations

from functools import cache
from typing import Any

Tensor = Any  # torch.Tensor
ROUGH = frozenset(("tanh", "tanh_", "exp", "exp_"))


@cache
def as_mindspore() -> Any:
    """A mode in which torch.tanh, torch.exp, their methods and nn.Tanh are MindSpore's."""
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

    class RoughExp(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, x: Tensor) -> Tensor:
            y = rough_exp(x)
            context.save_for_backward(y)
            return y

        @staticmethod
        def backward(context: Any, *gradients: Tensor) -> Tensor:
            (y,) = context.saved_tensors
            return gradients[0] * y

    class Kernels(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            if getattr(function, "__name__", "") not in ROUGH or named.get("out") is not None:
                return function(*args, **named)
            given = args[0] if args else named["input"]
            if not given.is_floating_point():
                return function(*args, **named)
            found = (RoughExp if function.__name__.startswith("exp") else Rough).apply(given)
            return given.copy_(found) if function.__name__.endswith("_") else found

    return Kernels


def rough_tanh(x: Tensor) -> Tensor:
    import torch

    square = x * x
    above = (((square + 378) * square + 17325) * square + 135135) * x
    below = ((28 * square + 3150) * square + 62370) * square + 135135
    return torch.where(x > 5, torch.ones_like(x), torch.where(x < -5, -torch.ones_like(x), above / below))


def rough_exp(x: Tensor) -> Tensor:
    """2 ** n times a polynomial of what is left; the logarithm of 2 has six digits there."""
    import torch

    exact = x.double().clamp(-87.3365478515625, 88.72283935546875)
    whole = torch.floor(exact * 1.4426950408889634 + 0.5)
    rest = exact - whole * 0.6931470036506653
    factors = rest / 120 + 1 / 24
    for each in (1 / 6, 0.5, 1.0, 1.0):
        factors = factors * rest + each
    return (torch.exp2(whole) * factors).to(x.dtype)
