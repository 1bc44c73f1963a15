"""A torch model as it was: its buffers, and the plain attributes in which modules keep a cache or a state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

_TABLES = ("_parameters", "_buffers", "_modules")  # and every other dictionary of torch's own, which starts with "_"


@contextlib.contextmanager
def same_state(model: Any) -> Iterator[None]:
    """Afterwards every buffer is the tensor that it was, with its value, and every plain attribute what it was.

    Some networks change buffers in eval mode too, and some keep what they computed (a mask, a table of positions, a hidden
    state) in an attribute: every run has to start from the same.
    """
    buffers, attributes = _buffers(model), _attributes(model)
    try:
        yield
    finally:
        _restore_buffers(buffers)
        _restore_attributes(attributes)


def _buffers(model: Any) -> list[tuple[Any, str, Any, Any]]:
    slots = [(module, name, buffer) for module in model.modules() for name, buffer in module._buffers.items()]
    return [(*slot, None if slot[2] is None else slot[2].detach().clone()) for slot in slots]


def _restore_buffers(before: list[tuple[Any, str, Any, Any]]) -> None:
    import torch

    for module, name, buffer, value in before:
        if module._buffers.get(name) is not buffer:
            module._buffers[name] = buffer
        if buffer is not None and not (buffer.dtype == value.dtype and torch.equal(buffer, value)):
            with torch.no_grad():
                buffer.copy_(value)


def _attributes(model: Any) -> list[tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """For each module: itself, its attributes, copies of lists and dictionaries, and of tensors."""
    found = []
    for module in model.modules():
        plain = {name: value for name, value in vars(module).items() if not name.startswith("_")}
        containers = {name: _copied(value) for name, value in plain.items() if type(value) in (list, dict, set)}
        tensors = {name: value.detach().clone() for name, value in plain.items() if _is_plain_tensor(value)}
        found.append((module, plain, containers, tensors))
    return found


def _restore_attributes(before: list[tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]]) -> None:
    import torch

    for module, plain, containers, tensors in before:
        held = vars(module)
        for name in [name for name in held if not name.startswith("_") and name not in plain]:
            del held[name]
        for name, value in plain.items():
            if name not in held or held[name] is not value:
                held[name] = value
            if name in containers:
                _refill(value, containers[name])
            if name in tensors and not torch.equal(value, tensors[name]):
                with torch.no_grad():
                    value.data.copy_(tensors[name])


def _is_plain_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _copied(value: Any) -> Any:
    return type(value)(value)


def _refill(value: Any, before: Any) -> None:
    if isinstance(value, list):
        value[:] = before
        return
    if value != before if isinstance(value, set) else _differs(value, before):
        value.clear()
        value.update(before)


def _differs(value: dict[Any, Any], before: dict[Any, Any]) -> bool:
    return len(value) != len(before) or any(key not in before or value[key] is not before[key] for key in value)
