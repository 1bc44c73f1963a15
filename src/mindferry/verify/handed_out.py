"""What a network returns that lies in the network itself: whoever writes into it changes the network, and the network changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Tensor = Any
Modules = Iterable[tuple[str, Any]]
OUTPUT = "output "  # and its number


def handed_out(output: Any, outputs: list[Tensor], held: Callable[[Tensor], bool], modules: Modules) -> list[str]:
    """Outputs whose numbers are the network's own, by their number, and lists and dictionaries that are its attributes, by their path."""
    found = [f"{OUTPUT}{index}" for index, tensor in enumerate(outputs) if held(tensor)]
    inside = {id(each) for each in _containers(output)}
    if not inside:
        return found
    kept = ((path, name, value) for path, module in modules for name, value in vars(module).items())
    return [*found, *(f"{path}.{name}".lstrip(".") for path, name, value in kept if id(value) in inside)]


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _containers(each)


def torchs(model: Any, output: Any, outputs: list[Tensor]) -> list[str]:
    """Of a torch model: by the memory of parameters, buffers and tensors in attributes."""
    import torch

    attributes = [
        each for module in model.modules() for each in vars(module).values() if isinstance(each, torch.Tensor)
    ]
    places = {_place(each) for each in (*model.parameters(), *model.buffers(), *attributes)} - {0}
    return handed_out(output, outputs, lambda tensor: _place(tensor) in places, model.named_modules())


def _place(tensor: Tensor) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):  # sparse ones, and those without memory
        return 0
