"""Compiled steps under a watch: ms.jit is given the gradient function itself, and what watches it stays outside of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

GRADIENT = "mindferry_gradient"  # on a watched gradient function: (the function, whether it returns more than the loss)


def compiling(jit: Any, watched: Callable[[Any, bool], Any]) -> Any:
    """ms.jit that compiles what a watched gradient function watches; the Python around it would not compile."""

    def compile_inner(function: Any = None, *args: Any, **options: Any) -> Any:
        found = getattr(function, GRADIENT, None)
        if found is None:
            return jit(function, *args, **options)
        inner, has_aux = found
        return watched(jit(inner, *args, **options), has_aux)

    return compile_inner


def update_as_called(helper: Any) -> None:
    """The update of a compiled step goes through the optimizer's call, where it is seen."""
    if hasattr(helper, "compiled_update"):
        helper.compiled_update = lambda optimizer: optimizer
