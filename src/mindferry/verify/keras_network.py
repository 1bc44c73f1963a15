"""A Keras network on TensorFlow that is built: its layers and weights by name, and the same network in float64."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .array_inputs import is_array
from .keras_tree import own_weights, packed
from .keras_watch import children, is_network, tree_of
from .named import one_line
from .nested_inputs import call

Model = Any  # keras.Model, or anything that can be called and has variables
Tensor = Any  # tf.Tensor
Array = Any
WIDE = ("float32", "float64", "int32", "int64", "bool")  # weights that a network in float64 can take over


@dataclass(slots=True)
class Network:
    """A network that is built, with its layers and weights by name."""

    model: Model
    tree: dict[str, Any]
    weights: dict[str, Any]  # name -> variable

    def call(self, positional: Sequence[Any], named: Mapping[str, Any], is_training: bool) -> Any:
        """A name may be the way to a part of an input, see nested_inputs.py."""

        def on_inputs(*args: Any, **kwargs: Any) -> Any:
            given, rest = packed(self.model, args, kwargs)
            return self.model(*given, **rest, **({"training": is_training} if is_network(self.model) else {}))

        return call(on_inputs, list(positional), dict(named))

    @property
    def trainable(self) -> dict[str, Any]:
        chosen = {id(each) for each in self.model.trainable_variables}
        return {name: each for name, each in self.weights.items() if id(each) in chosen}

    @property
    def penalties(self) -> list[Tensor]:
        return list(self.model.losses) if is_network(self.model) else []

    def values(self) -> dict[str, Array]:
        return {name: each.numpy().copy() for name, each in self.weights.items()}

    def assign(self, values: Mapping[str, Array]) -> None:
        for name, value in values.items():
            if name in self.weights:
                self.weights[name].assign(value)
        self.settle()

    def settle(self) -> None:
        """Layers that compute with copies of their weights take them anew, as they do when weights are loaded."""
        for layer in self.tree.values():
            if hasattr(layer, "finalize_state") and layer.built:
                layer.finalize_state()


def network(model: Model, inputs: list[tuple[str, Any]]) -> Network:
    """Called once, so that every layer has its weights."""
    found = Network(model, tree_of(model), {})
    found.call([v for n, v in inputs if not n], {n: v for n, v in inputs if n}, False)
    if not is_network(model):
        found.weights = {f"{index}:{each.name.partition(':')[0]}": each for index, each in enumerate(model.variables)}
        return found
    found.tree = tree_of(model)
    for path, own in own_weights(found.tree, children).items():
        for each in own:
            short, number = str(each.name).replace(".", "_"), 1
            name = f"{path}.{short}" if path else short
            while (name if number == 1 else f"{name}_{number}") in found.weights:
                number += 1
            found.weights[name if number == 1 else f"{name}_{number}"] = each
    return found


@contextlib.contextmanager
def precision(is_double: bool) -> Iterator[None]:
    """Keras computes in float64, or as it was told."""
    import keras

    before = keras.config.floatx()
    keras.config.set_floatx("float64" if is_double else before)
    try:
        yield
    finally:
        keras.config.set_floatx(before)


def make_double(
    make: Callable[[], Model], single: Network, inputs: list[tuple[str, Any]]
) -> tuple[Network | None, str]:
    """The network once more in float64, with the same weights; or why there is none."""
    import keras
    import numpy as np

    policy = keras.config.dtype_policy()
    if getattr(policy, "name", "float32") != "float32":
        return None, f"its layers compute in {policy.name}"
    if any(getattr(each.dtype, "name", each.dtype) not in WIDE for each in single.weights.values()):
        return None, "its weights are not in float32"
    wide = [(n, v.astype(np.float64) if is_array(v) and v.dtype.kind == "f" else v) for n, v in inputs]
    try:
        with precision(True):
            keras.config.set_dtype_policy("float64")
            made = make()
            if made is single.model:
                return None, "its module makes it, and not a function"
            found = network(made, wide)
        if list(found.weights) != list(single.weights):
            return None, "its factory makes another network when it is called again"
        found.assign(single.values())
        return found, ""
    except Exception as error:  # whatever the user's code makes of float64
        return None, one_line(error)
    finally:
        keras.config.set_dtype_policy(policy)
