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
NAMES += (
    "linear conv1d conv2d conv3d bmm addmm baddbmm cumsum cumprod mul __mul__ __rmul__ erf gelu silu softplus normalize"
)
# How far MindSpore's CPU kernels are off: in proportion to the result, and besides. They rest on its exp and its log, whose polynomials are
# off by 3e-6 and, near 1, by 3e-7. What cancels afterwards (a divergence, the loss of what is certain) shows it.
COARSE = {"log": (6e-7, 3e-7), "logsumexp": (6e-7, 5e-7), "softmax": (1.5e-6, 0.0), "sigmoid": (1.5e-6, 0.0)}
COARSE |= dict.fromkeys(("log_softmax", "cross_entropy", "kl_div", "nll_loss"), (1.5e-6, 2e-6))
COARSE |= dict.fromkeys(("softplus", "log_sigmoid", "logsigmoid"), (1.5e-6, 2e-6))
COARSE |= {"binary_cross_entropy_with_logits": (1.5e-6, 2e-6), "scaled_dot_product_attention": (1.5e-6, 0.0)}
UNSTABLE = frozenset("topk sort argsort".split())  # which of equal values comes first, torch leaves open


def jittered(tensor: Any, seed: int, least: float = 0.0) -> Any:
    """The tensor times numbers within a rounding of 1, plus some that are below `least`."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    noise = torch.rand(tensor.shape, dtype=torch.float32, generator=generator).to(tensor.device)
    moved = tensor * (1 + JITTER * (2 * noise - 1))
    return moved + least * noise if least else moved


def _moved(tensor: Any, seed: int, relative: float, absolute: float) -> Any:
    """Off by so much, up or down."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    signs = 2 * torch.randint(0, 2, tensor.shape, generator=generator).to(tensor) - 1
    return tensor + signs * (relative * tensor.detach().abs() + absolute)


@cache
def jittering() -> Any:
    import torch
    from torch.overrides import TorchFunctionMode

    names = frozenset(NAMES.split())

    def is_single(value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.dtype == torch.float32

    class Jittering(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, seed: int, is_coarse: bool = False) -> None:
            super().__init__()
            self.seed, self.is_coarse = seed, is_coarse

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(function, "__name__", "")
            if name in UNSTABLE and not (kwargs or {}).get("stable") and args and is_single(args[0]):
                self.seed += 1
                args = (jittered(args[0], self.seed), *args[1:])
            found = function(*args, **(kwargs or {}))
            if self.is_coarse and name in COARSE and is_single(found):
                self.seed += 1
                return _moved(found, self.seed, *COARSE[name])
            if name not in names or (kwargs or {}).get("out") is not None:
                return found
            if is_single(found):
                self.seed += 1
                return jittered(found, self.seed, TINY if name in UNDERFLOWING else 0.0)
            return found

    return Jittering
