"""A converted Keras network as the comparison asks a cell: its layers and weights by the reference's names, its mode as an argument."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import MindferryError
from ..verify.golden import Golden
from ..verify.goldenfile import RecordError
from ..verify.keras_tree import layer_tree, own_weights, packed
from ..verify.named import build
from ..verify.nested_inputs import call
from .mindspore_tensors import make_inputs
from .shared_draws import Draw, SharedDraws

Layer = Any  # a helper's, or one of the project's own
HELPERS = "ms_keras"


class KerasNetwork:
    """Has those methods of a Cell that the comparison uses. A layer makes its weights when it is first called: that is done here."""

    def __init__(self, model: Layer, golden: Golden) -> None:
        self.model, self.is_training = model, False
        self.cell = model if is_layer(model) else _as_cell(model)  # what hooks are put on
        positional, named = make_inputs(golden, golden.inputs)
        call(self, positional, named)
        self.tree = layer_tree(model, children) if is_layer(model) else {"": self.cell}
        self.names: dict[str, str] = {}  # the reference's weights -> MindSpore's names
        self._weights = dict(self._paired(golden))
        trained = {id(each) for each in model.trainable_variables}
        for each in self._weights.values():
            each.requires_grad = id(each) in trained
        self.names = {name: each.name for name, each in self._weights.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given, named = packed(self.model, args, kwargs)
        return self.cell(*given, **named, **({"training": self.is_training} if is_layer(self.model) else {}))

    def _paired(self, golden: Golden) -> Iterator[tuple[str, Any]]:
        """By the layer that holds it and the place among the layer's weights."""
        wanted: dict[str, list[str]] = {}
        for name in golden.weights:
            wanted.setdefault(name.rpartition(".")[0] if is_layer(self.model) else "", []).append(name)
        if is_layer(self.model):
            held = {path: each for path, each in own_weights(self.tree, children).items() if each}
        else:
            held = {"": list(self.model.variables)} if self.model.variables else {}
        for path in dict.fromkeys((*wanted, *held)):
            theirs, ours = wanted.get(path, []), held.get(path, [])
            if len(theirs) != len(ours):
                raise MindferryError(
                    f"{golden.title} is not the same network on both sides: {path or 'it'} has {_count(len(theirs))} in Keras "
                    f"and {len(ours)} in MindSpore; check the model's name on both sides"
                )
            for name, each in zip(theirs, ours, strict=True):
                shape = tuple(golden.entries[golden.weights[name]]["shape"])
                if tuple(each.shape) != shape:
                    raise MindferryError(
                        f"{golden.title} is not the same network on both sides: {name} is {shape} in Keras and {tuple(each.shape)} in MindSpore"
                    )
                yield name, each

    def load(self, golden: Golden) -> dict[str, str]:
        """The reference's weights; its names -> MindSpore's."""
        import mindspore as ms

        for name, key in golden.weights.items():
            weight = self._weights[name]
            ms.ops.assign(weight, ms.Tensor(golden.array(key)).astype(weight.dtype))
        return self.names

    def cells_and_names(self) -> list[tuple[str, Layer]]:
        return list(self.tree.items())

    def parameters_and_names(self) -> list[tuple[str, Any]]:
        return [(each.name, each) for each in self._weights.values()]

    def get_parameters(self) -> list[Any]:
        return list(self._weights.values())

    def parameters_dict(self) -> dict[str, Any]:
        return dict(self.parameters_and_names())

    def register_forward_pre_hook(self, hook: Any, with_kwargs: bool = False) -> Any:
        return self.cell.register_forward_pre_hook(hook, with_kwargs=with_kwargs)

    def register_forward_hook(self, hook: Any) -> Any:
        return self.cell.register_forward_hook(hook)

    def set_train(self, mode: bool = True) -> KerasNetwork:
        self.is_training = mode
        return self

    def penalties(self) -> Any:
        """What layers add to the loss: regularizers, `add_loss`. None where there is nothing."""
        found = [each.sum() for each in self.model.losses] if is_layer(self.model) else []
        return sum(found[1:], found[0]) if found else None

    def stepping(self, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """`make(model)` gives one of Keras' optimizers; this, one that is called with gradients as MindSpore's are."""
        return lambda _: _Stepping(make(self.model), self.model)

    @contextlib.contextmanager
    def shared_draws(
        self, seed: int, here: Callable[[], str], expected: tuple[Draw, ...] | None, lost: list[str]
    ) -> Iterator[None]:
        """The helpers draw from the same numbers as the reference; `lost` gets the layers that drew others."""
        homes = [module for name, module in list(sys.modules.items()) if HELPERS in name.split(".")]
        chances = [vars(home)["Chance"] for home in homes if "Chance" in vars(home)]
        before = [chance.generator for chance in chances]
        draws = SharedDraws(seed, here)
        for chance in chances:
            chance.generator = draws
        try:
            yield
        finally:
            for chance, generator in zip(chances, before, strict=True):
                chance.generator = generator
        if expected is not None and sorted(draws.drawn) != sorted(expected):
            lost += [path or "the network" for path, _ in {*draws.drawn} ^ {*expected}] or ["the network"]


class _Stepping:
    def __init__(self, optimizer: Any, model: Layer) -> None:
        self.optimizer, self.parameters = optimizer, list(model.trainable_variables)

    def __call__(self, gradients: Any) -> None:
        self.optimizer.apply_gradients(list(zip(gradients, self.parameters, strict=True)))


def _as_cell(module: Any) -> Any:
    """Around a tf.Module, which MindSpore knows nothing of."""
    from mindspore import nn

    class Whole(nn.Cell):  # type: ignore[misc,name-defined,unused-ignore]
        def construct(self, *args: Any, **kwargs: Any) -> Any:
            return module(*args, **kwargs)

    return Whole()


def is_layer(model: Any) -> bool:
    return hasattr(model, "sublayers") and hasattr(model, "own_weights")


def children(layer: Layer) -> tuple[list[Layer], Mapping[str, Any]]:
    """As keras_watch.py does it for Keras."""
    if not is_layer(layer) or (is_helper(layer) and not hasattr(layer, "prepare_fitting")):
        return [], {}
    is_graph = getattr(layer, "graph", None) is not None or hasattr(layer, "stack")
    held = {} if is_graph else {name: getattr(layer, name, None) for name in layer._attributes}
    return list(layer.sublayers), held


def is_helper(layer: Layer) -> bool:
    return HELPERS in type(layer).__module__.split(".")


def build_network(spec: str, golden: Golden) -> KerasNetwork:
    try:
        made = build(spec)
    except RecordError as error:
        raise MindferryError(str(error)) from None
    if not is_layer(made) and not (callable(made) and hasattr(made, "variables")):
        raise MindferryError(f"{spec} gave a {type(made).__name__}, not a network of {HELPERS}'s; check --model")
    return KerasNetwork(made, golden)


def _count(number: int) -> str:
    return f"{number} weight" if number == 1 else f"{number} weights"
