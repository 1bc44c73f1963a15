"""Example inputs from the specifications that `verify` takes, as numpy arrays: no torch is needed to export."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import MindferryError

SPEC = re.compile(r"(?:(\w+)=)?(float32|float64|float16|int64|int32|bool)\[([\d,\s]*)\](?:@([-\d.e]+)\.\.([-\d.e]+))?")


def make_arrays(specs: Sequence[str], seed: int, batch: int = 0) -> list[Any]:
    """One array for each specification; with `batch`, the first dimension is replaced by it."""
    return [_array(spec, seed * 1000 + index, batch) for index, spec in enumerate(specs)]


def is_made(specs: Sequence[str]) -> bool:
    """Whether the inputs are random ones, which can be made again with other numbers and another batch size."""
    return all(SPEC.fullmatch(spec.strip()) for spec in specs)


def _array(spec: str, seed: int, batch: int) -> Any:
    import numpy as np

    match = SPEC.fullmatch(spec.strip())
    if match is None:
        return _other(spec)
    name, dtype, sizes, low, high = match.groups()
    if name:
        raise MindferryError(
            f"{spec!r} is given by name, and an exported model takes its inputs by position; write them in order, without names"
        )
    shape = [int(size) for size in sizes.split(",") if size.strip()]
    shape = [batch, *shape[1:]] if batch and shape else shape
    random = np.random.RandomState(seed)
    if dtype == "bool":
        return random.randint(0, 2, shape).astype(bool)
    if dtype.startswith("int"):
        return random.randint(int(low or 0), int(high or 10), shape).astype(dtype)
    values = random.standard_normal(shape) if low is None else random.uniform(float(low), float(high), shape)
    return np.asarray(values).astype(dtype)


def _other(spec: str) -> Any:
    import numpy as np

    if Path(spec).suffix == ".npy":
        if not Path(spec).is_file():
            raise MindferryError(f"no input file {spec}")
        return np.load(spec, allow_pickle=False)
    try:
        return np.asarray(ast.literal_eval(spec))
    except (SyntaxError, ValueError):
        raise MindferryError(
            f"{spec!r} is no input for an export; write 'float32[4,3,224,224]', 'int64[2,16]@0..30522' or a .npy file"
        ) from None
