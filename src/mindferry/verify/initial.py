"""How far a table that a constructor computes may be off: float32 against float64 and with jitter, measured by making the model again.

sin(5000 * exp(-x)): one rounding of exp moves the last rows of a table of positions. What another seed makes otherwise is random.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

from .goldenfile import as_kept
from .jitter import jittering
from .kernels import as_mindspore
from .lifted import lifting
from .surroundings import computed_buffers

Tensor = Any  # torch.Tensor
JITTERS = 3
KERNEL = 0.5  # of what a rough kernel makes: with k = 4, twice that is allowed


def initial_errors(remake: Callable[[], Any] | None, made: dict[str, Tensor], seed: int) -> dict[str, float]:
    """Name -> the largest error of float32 in that buffer, or half of what MindSpore's own exp makes of it; inf if it is random."""
    if remake is None:  # it may have been trained; whole numbers are not
        return {name: math.inf if tensor.is_floating_point() else 0.0 for name, tensor in made.items()}
    plain = _remade(remake, seed, contextlib.nullcontext())
    other = _remade(remake, seed + 1, contextlib.nullcontext())
    errors = {name: 0.0 if _is_equal(plain, other, name) else math.inf for name in made}
    right = plain
    with contextlib.suppress(Exception):  # whatever the user's constructor makes of float64
        right = _remade(remake, seed, _in_double())
    samples = [(plain, 1.0), (_remade(remake, seed, as_mindspore()()), KERNEL)]
    samples += [(_remade(remake, seed, jittering()(turn * 10**6)), 1.0) for turn in range(1, JITTERS + 1)]
    for found, share in samples:
        for name in made:
            if made[name].is_floating_point() and name in found and name in right:
                errors[name] = max(errors[name], share * _apart(found[name], right[name]))
    return {name: error if not math.isnan(error) else math.inf for name, error in errors.items()}


def _remade(remake: Callable[[], Any], seed: int, how: contextlib.AbstractContextManager[Any]) -> dict[str, Tensor]:
    import torch

    torch.manual_seed(seed)
    with how:
        return {name: as_kept(tensor) for name, tensor in computed_buffers(remake()).items()}


@contextlib.contextmanager
def _in_double() -> Any:
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with lifting()():
            yield
    finally:
        torch.set_default_dtype(before)


def _is_equal(one: dict[str, Tensor], other: dict[str, Tensor], name: str) -> bool:
    return name in one and name in other and bool(one[name].equal(other[name]))


def _apart(one: Tensor, other: Tensor) -> float:
    if one.shape != other.shape:
        return math.inf
    difference = (one.double() - other.double()).abs()
    difference[one == other] = 0.0  # the same infinity
    return float(difference.max()) if difference.numel() else 0.0
