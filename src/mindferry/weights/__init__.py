"""checkpoint -> checkpoint: PyTorch's parameter files to MindSpore's and back, executing nothing that is in them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .convert import convert_weights as convert_weights
    from .load import load_torch_weights as load_torch_weights

# Looked up on first use: loading into a cell needs no file format, and a file needs no framework.
_HOMES = {"convert_weights": "convert", "load_torch_weights": "load"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
