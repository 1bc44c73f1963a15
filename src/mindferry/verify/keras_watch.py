"""A Keras network on TensorFlow while it runs: each layer's outputs are shown to a visitor, and its random numbers are shared ones."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from ..frameworks.shared_draws import SharedDraws
from ..frameworks.tensorflow_numbers import replaced, shared_numbers
from .keras_tree import layer_tree
from .nesting import leaves, rebuild

Layer = Any  # keras.Layer
Tensor = Any  # tf.Tensor
Visit = Callable[[str, Tensor], Tensor]  # key, tensor -> what goes on in its place
OWN = ("_layers", "_functional", "_metrics", "_loss_tracker", "_tracker", "_self_")  # Keras' own attributes


def is_tensor(value: Any) -> bool:
    import tensorflow as tf

    return isinstance(value, tf.Tensor | tf.Variable)


def is_network(layer: Any) -> bool:
    """A Layer or a Model; not a tf.Module, which has variables and no layers."""
    import keras

    return isinstance(layer, keras.Layer)


def children(layer: Layer) -> tuple[list[Layer], Mapping[str, Any]]:
    """The layers of a Model, or of a class of the project's own; what Keras' own layers are made of is their business."""
    import keras

    if not is_network(layer) or not (isinstance(layer, keras.Model) or not is_of_keras(layer)):
        return [], {}
    found = [each for each in layer._flatten_layers(False, False) if not isinstance(each, keras.layers.InputLayer)]
    is_graph = isinstance(layer, keras.Sequential) or hasattr(layer, "_operations")
    held = {} if is_graph else {name: value for name, value in vars(layer).items() if not name.startswith(OWN)}
    return found, held


def is_of_keras(layer: Layer) -> bool:
    return type(layer).__module__.partition(".")[0] in ("keras", "tensorflow", "tf_keras")


def tree_of(model: Layer) -> dict[str, Layer]:
    return layer_tree(model, children)


class Watched:
    """While it is entered, every layer of the tree shows what it gives. `calls` is what ran, in the order in which it ended."""

    def __init__(self, tree: Mapping[str, Layer], mode: str, visit: Visit, seed: int, is_quick: bool = False) -> None:
        self.mode, self.visit, self.is_quick = mode, visit, is_quick
        self.calls: list[dict[str, Any]] = []
        self._paths = {id(layer): path for path, layer in tree.items()}
        self._stack: list[str] = []
        self._counts: dict[str, int] = {}
        self._seen: dict[int, tuple[Tensor, str]] = {}
        self.draws = SharedDraws(seed, lambda: self._stack[-1] if self._stack else "")
        self._exits = contextlib.ExitStack()

    def __enter__(self) -> Watched:
        import keras

        original = keras.Layer.__call__

        def call(layer: Layer, *args: Any, **kwargs: Any) -> Any:
            path = self._paths.get(id(layer))
            if path is None or (self.is_quick and path):
                return original(layer, *args, **kwargs)
            return self.call(path, layer, lambda: original(layer, *args, **kwargs))

        self._exits.enter_context(replaced(keras.Layer, "__call__", call))
        self._exits.enter_context(shared_numbers(self.draws))
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def call(self, path: str, layer: Layer, run: Callable[[], Any]) -> Any:
        """One call: what it gives, each tensor as the visitor hands it on."""
        self._stack.append(path)
        try:
            output = run()
        finally:
            self._stack.pop()
        number = self._counts[path] = self._counts.get(path, -1) + 1
        keys, going_on = [], []
        for index, tensor in enumerate(leaves(output, is_tensor, objects=True)):
            known = self._seen.get(id(tensor))
            if known is not None and known[0] is tensor:  # a container gives what its last child gave
                keys.append(known[1])
                going_on.append(tensor)
                continue
            key = f"{self.mode}/{path}#{number}.{index}"
            made = self.visit(key, tensor)
            _copy_mask(tensor, made)
            self._seen[id(made)] = (made, key)
            keys.append(key)
            going_on.append(made)
        kind = type(layer).__name__
        self.calls.append({"path": path, "call": number, "class": kind, "outputs": keys, "inputs": []})
        return rebuild(output, iter(going_on), is_tensor, objects=True) if going_on else output


def _copy_mask(tensor: Tensor, made: Tensor) -> None:
    from keras.src import backend

    mask = backend.get_keras_mask(tensor)
    if mask is not None and made is not tensor:
        backend.set_keras_mask(made, mask)
