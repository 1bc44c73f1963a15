"""A view that skips, transposes or repeats, put in order a piece at a time: neither mapped nor read whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..dtypes import DTYPES
from .entry import Span
from .rebuilt import TensorRef

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

PIECE = 16 << 20  # bytes of the result that are made at a time
WINDOW = 4 << 20  # bytes that are read at a time
WASTE = 32  # times what is needed of a window may be read, where one larger read replaces many small ones
SMALL = 1 << 16  # a window that is read whole whatever is needed of it


def pieces(tensor: TensorRef, span: Span) -> Iterator[Array]:
    """The tensor's values from its storage, as arrays that follow each other in the order of its elements."""
    import numpy as np

    known = DTYPES[tensor.dtype]
    dtype = np.dtype(known.numpy or f"<u{known.size}")
    for offset, shape in _cut(tensor.offset, tensor.shape, tensor.stride, PIECE // known.size):
        piece = np.empty(shape, dtype)
        _fill(piece, span, offset, tensor.stride)
        yield _resolved(piece, tensor)


def _cut(
    offset: int, shape: tuple[int, ...], stride: tuple[int, ...], limit: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(offset, shape) of parts of at most `limit` elements, in the order of the elements."""
    if math.prod(shape) <= limit:
        yield offset, shape
        return
    axis = next(axis for axis, size in enumerate(shape) if size > 1)
    step = max(1, limit // math.prod(shape[axis + 1 :]))
    for start in range(0, shape[axis], step):
        part = (*shape[:axis], min(step, shape[axis] - start), *shape[axis + 1 :])
        yield from _cut(offset + start * stride[axis], part, stride, limit)


def _fill(out: Array, span: Span, offset: int, stride: tuple[int, ...]) -> None:
    """Read what the array's elements lie in: at once where that is dense enough, else in halves of its widest axis."""
    import numpy as np

    waiting = [(out, offset)]
    while waiting:
        part, at = waiting.pop()
        if not part.size:
            continue
        extent = (1 + sum((size - 1) * step for size, step in zip(part.shape, stride, strict=True))) * part.itemsize
        if extent <= SMALL or (extent <= WINDOW and extent <= WASTE * part.nbytes):
            raw = span.file.read(span.offset + at * part.itemsize, extent)
            strides = tuple(step * part.itemsize for step in stride)
            part[...] = np.lib.stride_tricks.as_strided(np.frombuffer(raw, part.dtype), part.shape, strides)
            continue
        axis = max((axis for axis, size in enumerate(part.shape) if size > 1), key=lambda axis: stride[axis])
        half = part.shape[axis] // 2
        before = (slice(None),) * axis
        waiting.append((part[(*before, slice(0, half))], at))
        waiting.append((part[(*before, slice(half, None))], at + half * stride[axis]))


def _resolved(piece: Array, tensor: TensorRef) -> Array:
    """With the conjugation and negation that torch had put off."""
    import numpy as np

    if tensor.is_conjugate:
        piece = np.conjugate(piece)
    if tensor.is_negative:
        piece = piece ^ np.uint16(0x8000) if tensor.dtype == "bfloat16" else np.negative(piece)
    return piece
