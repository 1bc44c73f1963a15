"""Tensors inside what a model returns: outputs may be tuples, dictionaries, dataclasses, nested."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

Tensor = Any  # torch.Tensor or mindspore.Tensor: both sides use this


def leaves(value: Any, is_tensor: Callable[[Any], bool]) -> list[Tensor]:
    """The tensors in `value`, in order."""
    if is_tensor(value):
        return [value]
    return [leaf for item in _items(value) for leaf in leaves(item, is_tensor)]


def rebuild(value: Any, replacements: Iterator[Tensor], is_tensor: Callable[[Any], bool]) -> Any:
    """`value` with its tensors replaced, in the order of `leaves`."""
    if is_tensor(value):
        return next(replacements)
    items = [rebuild(item, replacements, is_tensor) for item in _items(value)]
    if isinstance(value, dict):
        copied = copy.copy(value)  # keeps what a subclass holds beside its items
        for key, item in zip(value, items, strict=True):
            copied[key] = item
        return copied
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*items)
    if isinstance(value, list | tuple):
        return type(value)(items)
    if items:
        return dataclasses.replace(value, **dict(zip((f.name for f in dataclasses.fields(value)), items, strict=True)))
    return value


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple):
        return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, f.name) for f in dataclasses.fields(value)]
    return []
