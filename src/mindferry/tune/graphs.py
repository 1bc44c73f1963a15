"""Tells compilations apart from runs: a compiled function that meets a new signature is being compiled."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from ..tune_record import Compilation
from .clock import Clock, caller, now

Signature = tuple[Any, ...]
GRADIENT = "mindferry_has_aux"  # marks what ms.value_and_grad returned


class Graphs:
    """Every ms.jit function that the script makes, and cells in GRAPH_MODE. Wrappers keep `__wrapped__`: the compiler looks through them."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.compilations: list[Compilation] = []
        self._seen: dict[object, set[Signature]] = {}
        self._places: dict[str, set[object]] = {}  # where a function was made -> those made there
        self._keys = itertools.count()
        self._depth = 0
        self.wait: Callable[[], None] = lambda: None  # for what was launched
        self.on_gradient: Callable[[Any, bool], None] = lambda result, has_aux: (
            None
        )  # after a compiled ms.value_and_grad
        self.on_step: Callable[[Any], None] = lambda result: None  # after a function that holds the optimizer

    def install(self) -> None:
        import mindspore as ms

        original, graphs = ms.jit, self

        def jit(function: Any = None, **options: Any) -> Any:
            if function is None:
                return lambda each: jit(each, **options)
            return graphs.watched(original(function, **options), function)

        ms.jit = jit

    def watched(self, compiled: Any, function: Any) -> Any:
        name = getattr(function, "__name__", type(function).__name__)
        made, key = caller(self.clock.project), next(self._keys)

        @functools.wraps(compiled)
        def run(*args: Any, **kwargs: Any) -> Any:
            result = self.run(key, name, made, lambda: compiled(*args, **kwargs), (*args, *kwargs.values()))
            if not self._depth and hasattr(function, GRADIENT):
                self.on_gradient(result, getattr(function, GRADIENT))
            elif not self._depth and holds_optimizer(function, args):
                self.on_step(result)
            return result

        run.__wrapped__ = compiled
        return run

    def run(self, key: object, name: str, made: str, call: Callable[[], Any], values: tuple[Any, ...]) -> Any:
        """Run a compiled function under the clock, as a compilation if its signature is new."""
        if self._depth:
            return call()
        signature = tuple(_kind(value) for value in values)
        reason = self._reason(key, made, signature)
        self._depth += 1
        start = now()
        try:
            with self.clock.span("compile" if reason else "graph", name):
                result = call()
                self.wait()
                return result
        finally:
            self._depth -= 1
            if reason:
                seconds = (now() - start) / 1e9
                self.compilations.append(Compilation(name, made, len(self.clock.steps) + 1, seconds, reason))

    def _reason(self, key: object, made: str, signature: Signature) -> str:
        known = self._seen.setdefault(key, set())
        if signature in known:
            return ""
        others = self._places.setdefault(made, set())
        reason = (
            _difference(known, signature)
            if known
            else "new function object"
            if made and others - {key}
            else "first call"
        )
        known.add(signature)
        others.add(key)
        return reason


def holds_optimizer(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether a compiled function updates weights: then one call of it is a step, and no call of the optimizer is seen."""
    from .mindspore_run import is_optimizer_kind

    code = getattr(function, "__code__", None)
    if code is None:
        return False
    held = [cell.cell_contents for cell in function.__closure__ or () if cell_is_set(cell)]
    held += [function.__globals__.get(name) for name in code.co_names]
    if args and hasattr(args[0], "cells_and_names"):
        held += list(args[0].cells())
    return any(is_optimizer_kind(type(each)) for each in held)


def cell_is_set(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _kind(value: Any) -> Any:
    if hasattr(type(value), "asnumpy") and hasattr(type(value), "shape"):
        return ("tensor", tuple(value.shape), str(value.dtype))
    if isinstance(value, tuple | list):
        return tuple(_kind(each) for each in value)
    if isinstance(value, int | float | str | bool | None):
        return ("value", value)
    return ("object", type(value).__name__)


def _difference(known: set[Signature], signature: Signature) -> str:
    """What is new in `signature` against the one that it resembles most."""
    nearest = min(known, key=lambda each: sum(a != b for a, b in zip(each, signature, strict=False)))
    for old, new in zip(nearest, signature, strict=False):
        if old != new and isinstance(new, tuple) and new[:1] == ("tensor",):
            return f"new shape {new[1]}" if old[1:2] != new[1:2] else f"new type {new[2]}"
        if old != new and isinstance(new, tuple) and new[:1] == ("value",):
            return f"new value {new[1]!r} of an argument"
    return "new arguments"
