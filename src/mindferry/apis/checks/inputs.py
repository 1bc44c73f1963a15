"""Seeded inputs from short descriptions such as "float32[2,3]" or "int64[4](0,5)"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...errors import MindferryError

if TYPE_CHECKING:
    import numpy as np

_FORM = re.compile(r"(?P<dtype>[a-z]+\d*)\[(?P<shape>[\d,]*)\](?:\((?P<low>[-\d.e]+),(?P<high>[-\d.e]+)\))?$")


def make_input(spec: str, seed: int) -> np.ndarray[Any, Any]:
    """Standard normal floats, small integers or booleans, unless a range is given."""
    import numpy as np

    match = _FORM.match(spec)
    if not match:
        raise MindferryError(f"{spec!r} is not an input; write one like float32[2,3] or int64[4](0,5)")
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in match["shape"].split(",") if size)
    dtype = match["dtype"]
    low, high = (float(match["low"]), float(match["high"])) if match["low"] else (None, None)
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.startswith(("int", "uint")):
        return np.asarray(rng.integers(int(low or 0), int(high if high is not None else 5), shape)).astype(dtype)
    values = rng.standard_normal(shape) if low is None else rng.uniform(low, high or 1.0, shape)
    if dtype.startswith("complex"):
        return np.asarray(values + 1j * rng.standard_normal(shape)).astype(dtype)
    return np.asarray(values).astype(dtype)


def case_inputs(shapes: tuple[tuple[int, ...], ...], inputs: tuple[str, ...]) -> list[str]:
    return [*(f"float32[{','.join(map(str, shape))}]" for shape in shapes), *inputs]
