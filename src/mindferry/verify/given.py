"""The inputs as one run gets them: in another type, or moved on."""

from __future__ import annotations

from typing import Any

from .capture import is_tensor


def as_type(value: Any, dtype: Any) -> Any:
    """Numbers with a point in another type; everything else as it is."""
    return value.to(dtype) if is_tensor(value) and value.is_floating_point() else value


def rolled(value: Any) -> Any:
    """Each row moved on by one, and smaller: other inputs of the same kind."""
    if not is_tensor(value) or not value.ndim:
        return value
    moved = value.roll(1, -1)
    return moved * 0.75 if moved.is_floating_point() else moved


def overwritten(inputs: list[tuple[str, Any]], positional: list[Any], named: dict[str, Any]) -> list[int]:
    """The numbers of the inputs that a call wrote into."""
    import torch

    left = iter(positional)
    found = []
    for index, (name, value) in enumerate(inputs):
        after = named[name] if name else next(left)
        if is_tensor(value) and not torch.equal(after.detach().to(value), value):
            found.append(index)
    return found
