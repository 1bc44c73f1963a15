"""Hooks on every module of a torch model: each tensor that goes in or comes out is seen once, under a key of its own."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from .alias import alias
from .nesting import PLAIN, in_order, leaves, rebuild, rebuilt_call

Tensor = Any  # torch.Tensor
Visit = Callable[[str, Tensor], Tensor]
Fork = Callable[[str, Tensor, bool], Tensor]


class Capture:
    """Hooks on every module. `visit(key, tensor)` sees each tensor once and returns what goes on.

    `fork(key, tensor, is_new)`, if given, sees the inputs, and gives a module its own branch of a tensor that others use
    too, so that the gradient by way of this module alone can be seen there. With `only_whole`, the model itself alone.
    """

    def __init__(self, model: Any, mode: str, visit: Visit, fork: Fork | None, only_whole: bool = False) -> None:
        self.calls: list[dict[str, Any]] = []
        self._mode, self._visit, self._fork = mode, visit, fork
        self._started: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._inputs: dict[str, list[list[str]]] = {}
        self._arguments: dict[str, dict[str, Any]] = {}
        self._seen: dict[int, tuple[weakref.ref[Tensor], int, str]] = {}
        self._handles = []
        for path, module in [("", model)] if only_whole else model.named_modules():
            self._handles.append(module.register_forward_hook(partial(self._after, path)))
            if fork is not None:
                self._handles.append(module.register_forward_pre_hook(partial(self._before, path), with_kwargs=True))

    def stop(self) -> None:
        """To be called before the backward pass: activation checkpointing runs modules again there."""
        for handle in self._handles:
            handle.remove()

    def _before(self, path: str, module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        assert self._fork is not None
        number = self._started[path] = self._started.get(path, -1) + 1
        given, names = in_order(module.forward, args, kwargs)
        keys, going_on = [], []
        for index, tensor in enumerate(leaves(given, is_activation)):
            place = f"{self._mode}/{path}#{number}<{index}"
            key = self._known(tensor)
            tensor = self._fork(place, tensor, key is None)
            self._remember(tensor, key or place)
            keys.append([key or place, f"{place}~"])
            going_on.append(tensor)
        self._inputs[path] = keys
        self._arguments[path] = plain_arguments(module.forward, args, kwargs, is_tensor)
        return rebuilt_call(given, names, iter(going_on), is_activation)

    def _after(self, path: str, module: Any, args: Any, output: Any) -> Any:
        number = self._ended[path] = self._ended.get(path, -1) + 1
        keys, going_on = [], []
        found = leaves(output, is_tensor, objects=True)
        for index, tensor in enumerate(found):
            key = self._known(tensor)
            if key is None:
                key = f"{self._mode}/{path}#{number}.{index}"
                if len(found) > 1 and tensor.requires_grad:  # another output may be computed from this one
                    tensor = alias(tensor)
                tensor = self._visit(key, tensor)
                self._remember(tensor, key)
            keys.append(key)
            going_on.append(tensor)
        facts = {"path": path, "call": number, "class": type(module).__name__, "outputs": keys}
        arguments = self._arguments.pop(path, {})
        self.calls.append({**facts, "inputs": self._inputs.pop(path, []), "arguments": arguments})
        same = all(a is b for a, b in zip(found, going_on, strict=True))
        return output if same else rebuild(output, iter(going_on), is_tensor, objects=True)

    def _known(self, tensor: Tensor) -> str | None:
        """The key of a tensor that was seen before, unless it was changed in place since."""
        if id(tensor) not in self._seen:
            return None
        reference, version, key = self._seen[id(tensor)]
        return key if version == tensor._version and reference() is tensor else None

    def _remember(self, tensor: Tensor, key: str) -> None:
        self._seen[id(tensor)] = (weakref.ref(tensor), tensor._version, key)


def written_keys(mode: str, facts: dict[str, Any] | None) -> dict[str, str]:
    """An output's key -> the one that it was written under: a module that returns its input hands out its input's."""
    calls = facts["calls"] if facts is not None else ()
    return {
        f"{mode}/{call['path']}#{call['call']}.{index}": key
        for call in calls
        for index, key in enumerate(call["outputs"])
    }


def plain_arguments(
    function: Any, args: Any, kwargs: dict[str, Any], is_tensor: Callable[[Any], bool]
) -> dict[str, Any]:
    """What a call gives for each parameter: a plain value, or "a tensor"; other things are left out."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return {}
    bound.apply_defaults()
    found: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if is_tensor(value):
            found[name] = "a tensor"
        elif isinstance(value, PLAIN) and not isinstance(value, complex):
            found[name] = value
    return found


def is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def is_activation(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)
