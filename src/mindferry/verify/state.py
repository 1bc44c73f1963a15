"""A torch model as it was: its buffers, and the plain attributes in which modules keep a cache or a state."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from functools import cache
from typing import Any

from .outside import kept_outside

LIGHT = 1 << 20  # parameters up to which copies cost nothing
_TABLES = ("_parameters", "_buffers", "_modules")  # and every other dictionary of torch's own, which starts with "_"


@contextlib.contextmanager
def same_state(model: Any) -> Iterator[None]:
    """Afterwards every buffer is the tensor that it was, with its value, and every plain attribute what it was.

    Some networks change buffers in eval mode too, and some keep what they computed (a mask, a table of positions, a hidden
    state) in an attribute: every run has to start from the same.
    """
    buffers, attributes, weights = _buffers(model), _attributes(model), light_weights(model)
    try:
        yield
    finally:
        _restore_buffers(buffers)
        _restore_weights(weights)
        _restore_attributes(attributes)


@contextlib.contextmanager
def unsearched_objects() -> Iterator[None]:
    """What exists now is not searched for garbage: a framework brings a million objects, and hooks on every module make many more."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextlib.contextmanager
def without_gradients(model: Any) -> Iterator[None]:
    """Gradients that the parameters hold from before are put aside: torch adds to them."""
    held = [(parameter, parameter.grad) for parameter in model.parameters()]
    for parameter, _ in held:
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient in held:
            parameter.grad = gradient


class Watch:
    """Tells which buffers and plain attributes are no longer what they were when it was made."""

    def __init__(self, model: Any, is_quick: bool = False) -> None:
        self._buffers, self._attributes = _buffers(model), _attributes(model)
        self._weights = light_weights(model)
        self._names = {id(module): name for name, module in model.named_modules()}
        self.outside = {} if is_quick else values_outside(model)

    def written(self) -> list[str]:
        """Parameters that a call wrote into."""
        import torch

        return [name for name, weight, value in self._weights if not torch.equal(weight, value)]

    def changed(self, with_buffers: bool = True) -> list[str]:
        import torch

        found = []
        for module, name, buffer, value in self._buffers if with_buffers else ():
            now = module._buffers.get(name)
            if now is not buffer or (buffer is not None and not torch.equal(buffer, value)):
                found.append(self._path(module, name))
        for module, plain, containers, tensors in self._attributes:
            held = _plain(module)
            for name in {**plain, **held}:
                if name == "training":
                    continue
                is_kept = name in plain and name in held and held[name] is plain[name]
                if is_kept and name in containers:
                    is_kept = _is_unchanged(held[name], containers[name])
                elif is_kept and name in tensors:
                    is_kept = torch.equal(held[name], tensors[name])
                if not is_kept:
                    found.append(self._path(module, name))
        return found

    def _path(self, module: Any, name: str) -> str:
        return f"{self._names[id(module)]}.{name}".lstrip(".")


def _is_unchanged(value: Any, before: Any) -> bool:
    if isinstance(value, dict):
        return not _differs(value, before)
    if isinstance(value, set):
        return bool(value == before)
    return len(value) == len(before) and all(one is other for one, other in zip(value, before, strict=True))


def light_weights(model: Any) -> list[tuple[str, Any, Any]]:
    """(name, parameter, copy) of each; of a large network, where copies are dear, of those that an optimizer does not train.

    Who else would write into them: a teacher that follows its student, an encoder of keys.
    """
    held = list(model.named_parameters())
    is_light = sum(weight.numel() for _, weight in held) <= LIGHT
    return [(name, weight, weight.detach().clone()) for name, weight in held if is_light or not weight.requires_grad]


def _restore_weights(before: list[tuple[str, Any, Any]]) -> None:
    import torch

    for _, weight, value in before:
        if not torch.equal(weight, value):
            weight.data.copy_(value)


def _buffers(model: Any) -> list[tuple[Any, str, Any, Any]]:
    slots = [(module, name, buffer) for module in model.modules() for name, buffer in module._buffers.items()]
    return [(*slot, None if slot[2] is None else slot[2].detach().clone()) for slot in slots]


def _restore_buffers(before: list[tuple[Any, str, Any, Any]]) -> None:
    import torch

    for module, name, buffer, value in before:
        if module._buffers.get(name) is not buffer:
            module._buffers[name] = buffer
        if buffer is not None and buffer.grad_fn is not None:  # what a run wrote into it was computed, and not detached
            buffer.detach_()
        if buffer is not None and not (buffer.dtype == value.dtype and torch.equal(buffer, value)):
            with torch.no_grad():
                buffer.copy_(value)


def _attributes(model: Any) -> list[tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """For each module: itself, its attributes, copies of lists and dictionaries, and of tensors."""
    found = []
    for module in model.modules():
        plain = _plain(module)
        containers = {name: _copied(value) for name, value in plain.items() if type(value) in (list, dict, set)}
        tensors = {name: value.detach().clone() for name, value in plain.items() if _is_plain_tensor(value)}
        found.append((module, plain, containers, tensors))
    return found


def _restore_attributes(before: list[tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]]) -> None:
    import torch

    for module, plain, containers, tensors in before:
        held = vars(module)
        for name in _plain(module).keys() - plain.keys():
            del held[name]
        for name, value in plain.items():
            if name not in held or held[name] is not value:
                held[name] = value
            if name in containers:
                _refill(value, containers[name])
            if name in tensors and not torch.equal(value, tensors[name]):
                with torch.no_grad():
                    value.data.copy_(tensors[name])


def _plain(module: Any) -> dict[str, Any]:
    """The attributes that a module's class may keep something in: of the network's own classes, those with an underscore too."""
    is_own = not type(module).__module__.startswith("torch.")
    hidden = _torch_names() if is_own else frozenset()
    return {name: value for name, value in vars(module).items() if name[0] != "_" or (is_own and name not in hidden)}


@cache
def _torch_names() -> frozenset[str]:
    """What torch itself keeps in a module, parametrizations and weight norms among it."""
    import torch

    return frozenset(vars(torch.nn.Module())) | {"_is_hf_initialized", "_is_full_backward_hook"}


def values_outside(model: Any) -> dict[str, Any]:
    """What the network's own code keeps outside of its modules."""
    own = [module for module in model.modules() if not type(module).__module__.startswith("torch.")]
    return kept_outside(own, _is_plain_tensor, _torch_names())


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
