"""MindSpore's tensors: what is one, and what a golden file's inputs become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ..verify.golden import Golden, Input

Tensor = Any


def make_inputs(
    golden: Golden, items: Sequence[Input], given: Mapping[int, Tensor] = {}
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments; `given` are those that are there already, by their number."""
    import mindspore as ms

    positional: list[Any] = []
    named: dict[str, Any] = {}
    for index, item in enumerate(items):
        value = given.get(index)
        if value is None:
            value = ms.Tensor(golden.array(item.key)) if item.key else item.literal
        if item.name:
            named[item.name] = value
        else:
            positional.append(value)
    return positional, named


def is_tensor(value: Any) -> bool:
    kind: Any = type(value)
    return _kinds(kind)[0]


def is_activation(value: Any) -> bool:
    kind: Any = type(value)
    is_one, is_parameter = _kinds(kind)
    return is_one and not is_parameter


@cache
def _kinds(kind: Any) -> tuple[bool, bool]:
    """Whether such objects are tensors, and parameters. MindSpore's own check takes a microsecond, and is made at every value."""
    import mindspore as ms

    return issubclass(kind, ms.Tensor), issubclass(kind, ms.Parameter)


def as_numpy(tensor: Tensor) -> Any:
    import mindspore as ms

    return (tensor.astype(ms.float32) if tensor.dtype == ms.bfloat16 else tensor).asnumpy()


def in_parts(tensor: Tensor) -> Tensor:
    """Complex numbers as pairs of their parts; everything else as it is."""
    from mindspore import ops

    return ops.stack([ops.real(tensor), ops.imag(tensor)], axis=-1) if tensor.is_complex() else tensor


def like(reference: Any, tensor: Any) -> Any:
    """The reference's numbers as a tensor of the other one's type."""
    import mindspore as ms

    right = ms.Tensor.from_numpy(reference)
    return right if right.dtype == tensor.dtype else right.astype(tensor.dtype)


def overwrite(tensor: Tensor, value: Any) -> None:
    """Other numbers in the place of a tensor's own. MindSpore does not assign to one that is a view, such as `table.unsqueeze(0)`."""
    import mindspore as ms

    tensor.copy_(ms.Tensor(value).astype(tensor.dtype))


def rolled(value: Any) -> Any:
    """As the recorder does it."""
    import mindspore as ms
    import numpy as np

    if not is_tensor(value) or not value.ndim:
        return value
    moved = np.roll(as_numpy(value), 1, -1)
    return ms.Tensor(moved * moved.dtype.type(0.75) if moved.dtype.kind == "f" else moved)


def weighted_sum(tensor: Tensor) -> Any:
    """Each element times a number of its own; 0.0 where there is nothing to differentiate."""
    import mindspore as ms
    import numpy as np

    if not tensor.is_floating_point() or not np.isfinite(as_numpy(tensor)).all():
        return 0.0
    weights = np.cos(np.arange(tensor.size, dtype=np.float32)).reshape(tensor.shape)
    return (tensor * ms.Tensor(weights)).sum()


def split_gradients(found: Any, has_inputs: bool, has_parameters: bool) -> tuple[list[Tensor], list[Tensor]]:
    """value_and_grad's answer -> gradients of the inputs, of the parameters. One input alone comes without a tuple."""
    to_inputs, to_parameters = found if has_inputs and has_parameters else (found, ()) if has_inputs else ((), found)
    return [to_inputs] if is_tensor(to_inputs) else list(to_inputs), list(to_parameters)
