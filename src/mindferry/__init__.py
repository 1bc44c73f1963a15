"""mindferry carries a PyTorch project over to MindSpore and proves by measurement that it arrived whole."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .convert import convert_project as convert_project
    from .convert import convert_source as convert_source
    from .verify.live import compare as compare
    from .weights import convert_weights as convert_weights
    from .weights import load_torch_weights as load_torch_weights

# Looked up on first use, so that `import mindferry` costs nothing.
_HOMES = {
    "convert_source": "convert",
    "convert_project": "convert",
    "convert_weights": "weights",
    "load_torch_weights": "weights",
    "compare": "verify",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mindferry' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
