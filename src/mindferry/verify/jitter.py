"""Float32 with every result off by up to a rounding: what another, equally right implementation might compute.

torch's own error is a sample of one, and its exp() happens to round well. Where a network multiplies a small error (sin(1000 * exp(x))), the
error of another library's exp() may be many times torch's own. Random roundings show how much a place of the network magnifies.
"""

from __future__ import annotations

from functools import cache
from typing import Any

JITTER = 2.0**-23
UNDERFLOWING = frozenset(
    "sigmoid softmax exp exp2 softplus".split()
)  # a zero of these is a small number, and any other would do
TINY = 1e-37
NAMES = (
    "exp exp2 expm1 log log2 log10 log1p pow __pow__ __rpow__ sqrt rsqrt sin cos tan tanh sigmoid softmax log_softmax "
)
NAMES += (
    "div true_divide __truediv__ __rtruediv__ outer einsum matmul __matmul__ linspace logspace mean sum norm var std "
)
NAMES += "cumsum cumprod mul __mul__ __rmul__ erf gelu silu softplus normalize"
UNSTABLE = frozenset("topk sort argsort".split())  # which of equal values comes first, torch leaves open


def jittered(tensor: Any, seed: int, least: float = 0.0) -> Any:
    """The tensor times numbers within a rounding of 1, plus some that are below `least`."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    noise = torch.rand(tensor.shape, dtype=torch.float32, generator=generator).to(tensor.device)
    moved = tensor * (1 + JITTER * (2 * noise - 1))
    return moved + least * noise if least else moved


@cache
def jittering() -> Any:
    import torch
    from torch.overrides import TorchFunctionMode

    names = frozenset(NAMES.split())

    def is_single(value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.dtype == torch.float32

    class Jittering(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, seed: int) -> None:
            super().__init__()
            self.seed = seed

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(function, "__name__", "")
            if name in UNSTABLE and not (kwargs or {}).get("stable") and args and is_single(args[0]):
                self.seed += 1
                args = (jittered(args[0], self.seed), *args[1:])
            found = function(*args, **(kwargs or {}))
            if name not in names or (kwargs or {}).get("out") is not None:
                return found
            if is_single(found):
                self.seed += 1
                return jittered(found, self.seed, TINY if name in UNDERFLOWING else 0.0)
            return found

    return Jittering
