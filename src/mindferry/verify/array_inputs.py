"""A network's inputs as numpy's arrays: from what the user wrote, and in other sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .goldenfile import RecordError
from .named import _SPEC, _literal
from .variants import FAR, GROSS, NEAR, VALUES

Inputs = list[tuple[str, Any]]
__all__ = ["GROSS", "make_arrays", "other_arrays", "rolled"]


def make_arrays(specs: Sequence[str], seed: int) -> Inputs:
    """(name or "", value) of each, see named.make_inputs."""
    made: Inputs = []
    for index, spec in enumerate(specs):
        match = _SPEC.fullmatch(spec.strip())
        if match is not None:
            made.append((match[1] or "", _random(match, seed * 1000 + index)))
        elif Path(spec).suffix in (".npy", ".npz"):
            made += _from_file(Path(spec))
        elif Path(spec).suffix in (".pt", ".pth"):
            raise RecordError(f"{spec} is torch's; give a .npy or .npz file to a network of TensorFlow's")
        else:
            made.append(_literal(spec))
    return made


def _random(match: re.Match[str], seed: int) -> Any:
    import numpy as np

    _, dtype, sizes, low, high = match.groups()
    shape = [int(size) for size in sizes.split(",") if size.strip()]
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if dtype.startswith("int"):
        return generator.integers(int(low or 0), int(high or 10), shape).astype(dtype)
    if low is None:
        return generator.standard_normal(shape).astype(dtype)
    return generator.uniform(float(low), float(high), shape).astype(dtype)


def _from_file(path: Path) -> Inputs:
    import numpy as np

    if not path.is_file():
        raise RecordError(f"no input file {path}")
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise RecordError(f"cannot read inputs from {path}: {error}") from None
    return [("", loaded)] if path.suffix == ".npy" else [(name, loaded[name]) for name in loaded]


def rolled(value: Any) -> Any:
    """Each row moved on by one, and smaller: other inputs of the same kind."""
    import numpy as np

    if not is_array(value) or not value.ndim:
        return value
    moved = np.roll(value, 1, -1)
    return moved * moved.dtype.type(0.75) if moved.dtype.kind == "f" else moved


def other_arrays(inputs: Inputs) -> list[list[tuple[str, Inputs]]]:
    """Groups of (description, inputs); of each group the first that the reference takes is compared."""
    arrays = [value for _, value in inputs if is_array(value) and value.ndim]
    if not arrays:
        return []
    batch = arrays[0].shape[0]
    groups = []
    if arrays[0].ndim > 1 and batch:
        count = 1 if batch > 1 else 3
        groups.append([(f"batch of {count}", _with_sizes(inputs, arrays[0], {0: count}))])
    groups.append(list(_resized(inputs, arrays[0])))
    if any(each.dtype.kind == "f" for each in arrays):
        groups.append([(f"{VALUES} {factor:g}", _times(inputs, factor)) for factor in (-FAR, FAR)])
        groups.append([(f"near zero, times {NEAR:g}", _times(inputs, NEAR))])
    return [group for group in groups if group]


def _resized(inputs: Inputs, first: Any) -> Iterator[tuple[str, Inputs]]:
    """Every axis between the samples and the channels, which come last."""
    chosen = {axis: size + (1 if axis % 2 else -1) for axis, size in enumerate(first.shape[:-1]) if axis and size > 2}
    if chosen:
        sizes = [chosen.get(axis, size) for axis, size in enumerate(first.shape)]
        yield f"size {'×'.join(map(str, sizes))}", _with_sizes(inputs, first, chosen)


def _with_sizes(inputs: Inputs, first: Any, chosen: dict[int, int]) -> Inputs:
    """The first array along these axes; the others along the same axes, where they are as long."""
    import numpy as np

    found = []
    for name, value in inputs:
        if is_array(value):
            for axis, size in chosen.items():
                if axis < value.ndim and value.shape[axis] == first.shape[axis]:
                    value = np.take(value, np.arange(size) % value.shape[axis], axis)
        found.append((name, value))
    return found


def _times(inputs: Inputs, factor: float) -> Inputs:
    return [(n, v * v.dtype.type(factor) if is_array(v) and v.dtype.kind == "f" else v) for n, v in inputs]


def is_array(value: Any) -> bool:
    import numpy as np

    return isinstance(value, np.ndarray)
