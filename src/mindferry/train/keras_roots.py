"""The networks that a Keras script calls, on either side: what each gave first, and where its weights went in each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .exchange import Exchange, sample

Layer = Any  # Keras', or a helper's
Array = Any


class Roots:
    """Layers with weights that the script itself calls, in the order of their first calls: the same on both sides."""

    def __init__(self, exchange: Exchange, side: str, to_arrays: Callable[[Any], list[Array]]) -> None:
        self.exchange, self.side, self.to_arrays = exchange, side, to_arrays
        self.found: list[Layer] = []
        self.depth = 0

    def watch(self, layer: Any, is_real: Callable[[tuple[Any, ...], dict[str, Any]], bool]) -> None:
        """`is_real` tells a call from one that only puts a network together."""
        original, roots = layer.__call__, self

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            is_outermost = not roots.depth and is_real(args, kwargs)
            roots.depth += 1
            try:
                output = original(self, *args, **kwargs)
            finally:
                roots.depth -= 1
            if is_outermost:
                roots.meet(self, output)
            return output

        layer.__call__ = call

    def meet(self, layer: Layer, output: Any) -> None:
        if any(each is layer for each in self.found) or not layer.weights:
            return
        number = len(self.found)
        self.found.append(layer)
        if not self.side:
            values = {_title(index, number): self.value(each) for index, each in enumerate(layer.weights)}
            self.exchange.write_weights(number, type(layer).__name__, values)
        self.exchange.write_output(self.side, number, self.to_arrays(output))

    def value(self, weight: Any) -> Array:
        return self.to_arrays(weight)[0]

    def names(self) -> dict[int, str]:
        return {
            id(weight): f"{number}:{_title(index, number)}"
            for number, layer in enumerate(self.found)
            for index, weight in enumerate(layer.weights)
        }

    def weights(self) -> dict[str, Array]:
        return {
            f"{number}:{_title(index, number)}": sample(self.value(weight))
            for number, layer in enumerate(self.found)
            for index, weight in enumerate(layer.weights)
        }

    def before_step(self, step: int, gradients: Sequence[Any], weights: Sequence[Any]) -> None:
        names = self.names()
        pairs = [
            (names[id(w)], g) for g, w in zip(gradients, weights, strict=False) if id(w) in names and g is not None
        ]
        found = {name: self.to_arrays(gradient) for name, gradient in pairs}
        self.exchange.write_step(f"{self.side}before-{step}", self.weights())
        self.exchange.write_step(
            f"{self.side}gradients-{step}", {name: sample(each[0]) for name, each in found.items() if each}
        )

    def after_step(self, step: int) -> None:
        self.exchange.write_step(f"{self.side}after-{step}", self.weights())


def _title(index: int, number: int) -> str:
    """Not by its class or its names: these may be others in the conversion."""
    return f"weight {index + 1} of network {number + 1}"
