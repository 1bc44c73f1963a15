"""Two frameworks -> Comparison: same weights, same inputs, every module's output and gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .live import compare as compare

__all__ = ["compare"]


def __getattr__(name: str) -> Any:
    if name != "compare":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .live import compare

    return compare
