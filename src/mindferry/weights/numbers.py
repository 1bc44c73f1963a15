"""A checkpoint's values as numbers, a piece at a time: statistics, and the difference of two tensors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .dtypes import DTYPES
from .formats.entry import Entry

if TYPE_CHECKING:
    from .transforms import Array

PIECE = 1 << 19  # elements


@dataclass(frozen=True, slots=True)
class Statistics:
    minimum: float = math.nan
    maximum: float = math.nan
    mean: float = math.nan
    std: float = math.nan
    nan: int = 0
    inf: int = 0


def statistics(entry: Entry) -> Statistics | None:
    """Over the finite values; None for types that numpy can't compute with."""
    import numpy as np

    if not is_countable(entry):
        return None
    low, high, total, squares, count, nan, inf = math.inf, -math.inf, 0.0, 0.0, 0, 0, 0
    for piece in pieces(entry):
        values = np.abs(piece) if np.iscomplexobj(piece) else piece
        finite = values[np.isfinite(values)]
        nan += int(np.isnan(values).sum())
        inf += int(np.isinf(values).sum())
        if len(finite):
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
            total, squares = total + float(finite.sum()), squares + float(np.square(finite).sum())
            count += len(finite)
    if not count:
        return Statistics(nan=nan, inf=inf)
    mean = total / count
    return Statistics(low, high, mean, math.sqrt(max(0.0, squares / count - mean * mean)), nan, inf)


def largest_difference(one: Entry, other: Entry) -> float:
    """Largest absolute difference; two NaN in the same place count as equal, one alone as infinitely far."""
    import numpy as np

    worst = 0.0
    for a, b in zip(pieces(one), pieces(other), strict=True):
        with np.errstate(invalid="ignore"):
            gap = np.abs(a - b)
        gap = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.where(np.isnan(gap), math.inf, gap))
        worst = max(worst, float(gap.max(initial=0.0)))
    return worst


def is_countable(entry: Entry) -> bool:
    return bool(DTYPES[entry.dtype].numpy) or entry.dtype == "bfloat16"


def pieces(entry: Entry) -> Iterator[Array]:
    """The values as float64 or complex128, `PIECE` elements at a time."""
    import numpy as np

    dtype = DTYPES[entry.dtype]
    if len(entry.spans) == 1:
        raws: Iterator[Array] = (
            np.frombuffer(chunk, np.uint8) for chunk in entry.chunks(bytearray(PIECE * dtype.size))
        )
    else:
        flat = np.ascontiguousarray(entry.array()).reshape(-1).view(np.uint8)
        raws = (flat[start : start + PIECE * dtype.size] for start in range(0, len(flat), PIECE * dtype.size))
    for raw in raws:
        if entry.dtype == "bfloat16":
            yield (raw.view("<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        else:
            values = raw.view(dtype.numpy)
            yield values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
