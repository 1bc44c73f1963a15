"""What can happen to a tensor's values on the way: reshapes, transposes, slices, and the folding of norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import MindferryError, brief

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

KINDS = "transpose, permute:1,0,2, reshape:4,-1, squeeze:2, unsqueeze:2 or rows:0:128"


def check_transform(text: str, where: str) -> None:
    """Refuse a user's transform that nothing here can carry out."""
    verb, _, rest = text.partition(":")
    try:
        if (verb == "transpose" and not rest) or (
            verb in ("permute", "reshape", "squeeze", "unsqueeze") and _numbers(rest)
        ):
            return
        if verb == "rows" and len(rest.split(":")) == 2 and all(part.isdigit() for part in rest.split(":")):
            return
    except ValueError:
        pass
    raise MindferryError(f"{where}: unknown transform {brief(text)!r}; use {KINDS}")


def apply_transform(text: str, array: Array) -> Array:
    verb, _, rest = text.partition(":")
    if verb == "transpose":
        return array.T
    if verb == "rows":
        start, stop = (int(part) for part in rest.split(":"))
        return array[start:stop]
    numbers = _numbers(rest)
    if verb == "permute":
        return array.transpose(numbers)
    if verb == "reshape":
        return array.reshape(numbers)
    if verb == "squeeze":
        return array.squeeze(numbers[0])
    import numpy as np

    return np.expand_dims(array, numbers[0])


def transformed_shape(text: str, shape: tuple[int, ...], name: str) -> tuple[int, ...]:
    """The shape that a transform makes of `shape`, found without any values."""
    import numpy as np

    try:
        return apply_transform(text, np.broadcast_to(np.int8(0), shape)).shape if text else shape
    except (ValueError, IndexError) as error:
        raise MindferryError(f"{text!r} can't be done to {name} of shape {shape}: {error}") from None


def fold_weight_norm(g: Array, v: Array) -> Array:
    """weight = g * v / |v|, the norm taken over every axis along which g has length 1."""
    import numpy as np

    axes = tuple(axis for axis in range(v.ndim) if g.ndim != v.ndim or g.shape[axis] == 1)
    norm = np.sqrt(np.sum(np.square(v), axis=axes, keepdims=True, dtype=v.dtype))
    result: Array = v * (g.reshape(norm.shape) / norm)
    return result


def fold_spectral_norm(weight: Array, u: Array, v: Array, axis: int = 0) -> Array:
    """weight / sigma with sigma = u . (W v), as torch computes it in eval mode from its stored vectors."""
    import numpy as np

    matrix = np.moveaxis(weight, axis, 0).reshape(weight.shape[axis], -1)
    result: Array = weight / np.dot(u, matrix @ v)
    return result


def combine(fold: str, arrays: list[Array], name: str) -> Array:
    """The one tensor that a move's sources make."""
    import numpy as np

    try:
        with np.errstate(divide="ignore", invalid="ignore"):  # a norm of zero gives NaN, as in torch
            if fold == "weight_norm":
                return fold_weight_norm(*arrays)
            if fold.startswith("spectral_norm"):
                weight, u, v = arrays
                return fold_spectral_norm(weight, u, v, axis=1 if fold.endswith("_1") else 0)
            return apply_transform(fold, arrays[0]) if fold else arrays[0]
    except (ValueError, IndexError) as error:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise MindferryError(
            f"{name} can't be made of tensors of shape {shapes} ({error}); the file is broken"
        ) from None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))
