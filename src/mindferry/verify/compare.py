"""Two arrays -> how far apart they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


SAMPLE = 1 << 12
BLOCK = 1 << 15  # elements at a time: they stay in the processor's cache
LARGE, GAP = 1e4, 100.0  # see scale.py


@dataclass(frozen=True, slots=True)
class Measurement:
    """One tensor of the conversion against the reference's."""

    mode: str  # eval, train, jit, step
    run: str  # whole: as the network runs; own: every module on the reference's values
    kind: str  # network, output, input, gradient, input gradient, parameter, buffer, loss, update
    name: str  # module path, or parameter name
    call: int
    key: str  # of the reference in the golden file; "" if it has none
    shape: tuple[int, ...]
    max_abs: float
    cosine: float  # of whole numbers and truth values: the share that is equal
    problem: str = ""  # what makes the numbers meaningless: another shape, no such tensor


def distance(
    value: Array, reference: Array, *, is_parameter: bool = False, is_plain: bool = False
) -> tuple[float, float, str]:
    """(largest absolute difference, cosine, problem). `is_plain`: the reference is known to hold no masks."""
    import numpy as np

    if value.shape != reference.shape:
        if not is_parameter or _squeezed(value.shape) != _squeezed(reference.shape):
            return math.inf, math.nan, f"shape {_show(value.shape)}, not {_show(reference.shape)}"
        value = value.reshape(reference.shape)
    if not value.size:
        return 0.0, 1.0, ""
    if value.dtype.kind == "c" or reference.dtype.kind == "c":
        value, reference = (np.ascontiguousarray(each, np.complex64).view(np.float32) for each in (value, reference))
    if value.dtype.kind != "f" or reference.dtype.kind != "f":
        return _whole_numbers(value, reference)
    a: Any = np.ascontiguousarray(value, np.float32).ravel()
    b: Any = np.ascontiguousarray(reference, np.float32).ravel()
    with np.errstate(all="ignore"):
        largest = _largest(a, b)
        if math.isnan(largest) or not (is_plain or _greatest(b) < LARGE):
            largest = _beside_masks(a, b)
        cosine = _cosine(a, b)
    return largest, cosine, "NaN where the reference has none" if math.isinf(largest) and np.isnan(a).any() else ""


def _largest(a: Any, b: Any) -> float:
    """The largest absolute difference, NaN if there is one."""
    import numpy as np

    if a.size <= BLOCK:
        difference = np.subtract(a, b)
        most, least = float(difference.max()), float(difference.min())
        return most if most >= -least else -least if least < 0 else math.nan
    difference = np.empty(BLOCK, np.float32)
    ends = []
    for start in range(0, a.size, BLOCK):
        stop = min(start + BLOCK, a.size)
        block = np.subtract(a[start:stop], b[start:stop], out=difference[: stop - start])
        ends += [block.max(), block.min()]
    return float(np.max(np.abs(ends)))


def _greatest(b: Any) -> float:
    """The largest absolute value."""
    return max(float(b.max()), -float(b.min()))


def _cosine(a: Any, b: Any) -> float:
    """Of at most SAMPLE elements, evenly spread: it is for people to read, and no verdict rests on it."""
    step = 1 + a.size // SAMPLE
    a, b = a[::step].astype("f8"), b[::step].astype("f8")
    norms = math.sqrt(float(a @ a) * float(b @ b))
    if not norms:
        return 1.0 if not a.any() and not b.any() else 0.0
    return float(a @ b) / norms


def _beside_masks(a: Any, b: Any) -> float:
    """As scale.py does it for torch: the same infinity is no difference, and a mask's error counts in proportion to its size."""
    import numpy as np

    right, sizes = b.astype(np.float64), np.abs(b.astype(np.float64))
    difference = np.abs(a - right)
    found = np.unique(sizes[np.isfinite(sizes) & (sizes > 0)])
    gaps = np.flatnonzero((found[1:] >= LARGE) & (found[1:] >= GAP * found[:-1]))
    if gaps.size:
        scale, cut = found[gaps[0]], math.sqrt(found[gaps[0]] * found[gaps[0] + 1])
        is_mask = np.isfinite(right) & (sizes > cut)
        difference[is_mask] *= scale / sizes[is_mask]
    difference[a == right] = 0.0
    difference[np.isnan(difference)] = np.inf
    return float(difference.max())


def _whole_numbers(value: Array, reference: Array) -> tuple[float, float, str]:
    import numpy as np

    a: Any = np.asarray(value, np.float64).ravel()
    b: Any = np.asarray(reference, np.float64).ravel()
    unequal = int(((a != b) & ~(np.isnan(a) & np.isnan(b))).sum())
    return float(np.nan_to_num(np.abs(a - b), nan=np.inf).max()) if unequal else 0.0, 1.0 - unequal / a.size, ""


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A Conv1d weight is one dimension richer in MindSpore; that is no difference."""
    return tuple(size for size in shape if size != 1)


def _show(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "scalar"
