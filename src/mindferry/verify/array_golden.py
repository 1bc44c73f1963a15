"""A golden file being written from numpy's arrays, and how large and how far apart two arrays are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .compare import distance
from .goldenfile import _DTYPES, BLOCK, GoldenWriter, RecordError
from .scale import GAP, LARGE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


class ArrayWriter(GoldenWriter):
    """GoldenWriter for arrays; what has a point is kept in float32."""

    def write(self, key: str, tensor: Any) -> None:
        kept = as_kept(tensor)
        if kept.dtype.name not in _DTYPES:
            raise RecordError(f"{key} has dtype {kept.dtype.name}, which a golden file cannot hold")
        data = kept.tobytes()
        self._file.seek(8 + self._room + self._end)
        for begin in range(0, len(data), BLOCK):
            self._file.write(data[begin : begin + BLOCK])
        offsets = [self._end, self._end + len(data)]
        self.entries[key] = {"dtype": _DTYPES[kept.dtype.name], "shape": list(kept.shape), "data_offsets": offsets}
        self._end += len(data)

    def read(self, key: str) -> Any:
        import numpy as np

        entry = self.entries[key]
        start, end = entry["data_offsets"]
        name = next(name for name, code in _DTYPES.items() if code == entry["dtype"])
        self._file.seek(8 + self._room + start)
        return np.frombuffer(self._file.read(end - start), name).reshape(entry["shape"]).copy()


def as_kept(value: Any) -> Any:
    """As it is in the file."""
    import numpy as np

    array = np.asarray(value)
    is_number = array.dtype.kind == "f" or array.dtype.name == "bfloat16"
    wide = np.int64 if array.dtype.name in ("uint16", "uint32", "uint64") else array.dtype
    return np.array(array, np.float32 if is_number else wide, order="C")  # ascontiguousarray makes rows of numbers


def size_of(array: Any) -> dict[str, float]:
    """The largest value that counts, those left out that only mask (see scale.py). NaN if there is a NaN."""
    import numpy as np

    if not array.size:
        return {"scale": 0.0}
    sizes = np.abs(array.astype(np.float64)).ravel()
    if np.isnan(sizes).any():
        return {"scale": math.nan}
    largest = float(sizes.max())
    is_constant = array.size > 1 and bool((array == array.ravel()[0]).all())
    if largest < LARGE or array.dtype.kind != "f":
        return {"scale": largest, "is_constant": is_constant}
    found = np.unique(sizes[np.isfinite(sizes) & (sizes > 0)])
    if not found.size:
        return {"scale": 0.0}
    gaps = np.flatnonzero((found[1:] >= LARGE) & (found[1:] >= GAP * found[:-1]))
    return {"scale": float(found[gaps[0]] if gaps.size else found[-1]), "is_constant": is_constant}


def apart(right: Any, value: Any) -> float:
    """The largest absolute difference; inf where the shapes differ."""
    return distance(as_kept(value), right)[0]
