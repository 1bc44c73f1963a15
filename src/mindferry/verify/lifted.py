"""A torch model in float64 throughout: its tensors, the default type, and what its code casts to float32 by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from .scale import has_fraction


@contextlib.contextmanager
def cast(model: Any, dtype: Any) -> Iterator[None]:
    """The model in another floating type, for a while; the way back is exact."""
    tensors = [*model.parameters(), *model.buffers(), *_plain_tensors(model)]
    before = [(tensor, tensor.dtype) for tensor in tensors if has_fraction(tensor)]
    for tensor, _ in before:
        tensor.data = tensor.data.to(dtype.to_complex() if tensor.is_complex() else dtype)
    try:
        yield
    finally:
        for tensor, original in before:
            tensor.grad = None
            tensor.data = tensor.data.to(original)


def _plain_tensors(model: Any) -> list[Any]:
    """Tables and constants that modules keep as attributes."""
    import torch

    found = {}
    for module in model.modules():
        for name, value in vars(module).items():
            if not name.startswith("_") and isinstance(value, torch.Tensor) and value.dtype == torch.float32:
                found[id(value)] = value
    return list(found.values())


@contextlib.contextmanager
def in_double(model: Any, lift: bool) -> Iterator[None]:
    """With `lift`, also where the code says `.float()`, `dtype=torch.float32`, or nothing at all."""
    import torch

    with contextlib.ExitStack() as stack:
        stack.enter_context(cast(model, torch.float64))
        if lift:
            stack.callback(torch.set_default_dtype, torch.get_default_dtype())
            torch.set_default_dtype(torch.float64)
            stack.enter_context(lifting()())
        yield


@cache
def lifting() -> Any:
    import torch
    from torch.overrides import TorchFunctionMode

    def lifted(value: Any) -> Any:
        return torch.float64 if value is torch.float32 else value

    class Lifting(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is torch.Tensor.float:
                return args[0].double()
            if (kwargs or {}).get("generator") is not None:  # in float64 the same seed gives other numbers
                return function(*args, **kwargs)
            named = {name: lifted(value) for name, value in (kwargs or {}).items()}
            return function(*map(lifted, args), **named)

    return Lifting


@contextlib.contextmanager
def full_precision() -> Iterator[None]:
    """No TF32 on a GPU: its error, 1e-3, would be taken for float32's, and hide faults."""
    import torch

    switches = (torch.backends.cudnn, torch.backends.cuda.matmul)
    before = [switch.allow_tf32 for switch in switches]
    for switch in switches:
        switch.allow_tf32 = False
    try:
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.allow_tf32 = value
