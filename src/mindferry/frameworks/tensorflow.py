"""The TensorFlow side: build the Keras network, load its weights, record what it computes in a golden file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..verify.array_inputs import make_arrays, other_arrays
from ..verify.goldenfile import RecordError
from ..verify.keras_network import Network, make_double, network
from ..verify.keras_recorder import record as write
from ..verify.keras_watch import is_network, is_tensor
from ..verify.named import build, find, one_line
from ..verify.nesting import leaves
from ..verify.predict import batches, save
from .requests import BuildRequest, Found, PredictRequest, RecordRequest, VariantsRequest
from .worker import Link


def record(request: RecordRequest, link: Link) -> None:
    """In the worker: write the golden file that the request names."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)  # @tf.function would hide what happens inside
    try:
        inputs = make_arrays(request.inputs, request.seed)
        if request.variant:
            inputs = next(given for group in other_arrays(inputs) for said, given in group if said == request.variant)
        single = _network(request, link, make_arrays(request.inputs, request.seed))
        double, why = link.state.get("double", (None, ""))
        write(
            single,
            double,
            inputs,
            Path(request.golden),
            modes=request.modes,
            seed=request.seed,
            title=request.model,
            why=why,
            loss=find(request.loss) if request.loss else None,
            targets=make_arrays(request.targets, request.seed + 1),
            optimizer=find(request.optimizer) if request.optimizer else None,
            steps=request.steps,
            is_quick=request.is_quick,
            is_rough=request.is_rough,
            has_weights=request.has_weights,
            note=lambda run: link.doing(f"{run} on {', '.join(request.inputs)}"),
        )
    except RecordError as error:
        raise MindferryError(str(error)) from None


def _network(request: RecordRequest, link: Link, inputs: list[tuple[str, Any]]) -> Network:
    """The network with its weights: made once, in float32 and in float64."""
    import keras

    if "single" in link.state:
        known: Network = link.state["single"]
        return known
    link.doing(f"building {request.model}")
    keras.utils.set_random_seed(request.seed)
    single = network(build_network(request.model), inputs)
    if request.weights:
        _load(single, request.weights)
    else:
        shake(single, request.seed)
    link.doing(f"building {request.model} in float64")
    link.state["double"] = make_double(lambda: build_network(request.model), single, inputs)
    link.state["single"] = single
    return single


def build_network(spec: str) -> Any:
    """What `module:factory(arguments)` makes, or the network that has this name."""
    import tensorflow as tf

    made = find(spec.partition("(")[0])
    if not is_network(made) and not isinstance(made, tf.Module):
        made = build(spec)
    if not is_network(made) and not (isinstance(made, tf.Module) and callable(made)):
        raise RecordError(
            f"{spec} gave a {type(made).__name__}, not a keras.Model, a Layer or a tf.Module that can be called"
        )
    return made


def _load(single: Network, path: str) -> None:
    """Weights alone: nothing in the file is executed."""
    try:
        single.model.load_weights(path)
    except Exception as error:
        raise RecordError(f"cannot load the weights in {path}: {one_line(error)}") from None


def shake(single: Network, seed: int) -> None:
    """Give constant weights and statistics some spread: a zero bias or a unit variance would hide a fault."""
    import numpy as np

    generator = np.random.default_rng(seed)
    for variable in single.weights.values():
        value = variable.numpy()
        if value.dtype.kind == "f" and value.size and (value == value.ravel()[0]).all():
            spread = generator.uniform(-0.4, 0.4, value.shape)
            variable.assign(
                (value + (np.abs(spread) if not value.ravel()[0] and value.size == 1 else spread)).astype(value.dtype)
            )
    single.settle()


def other_sizes(request: VariantsRequest, link: Link) -> tuple[tuple[str, ...], ...]:
    """In the worker: groups of descriptions."""
    try:
        groups = other_arrays(make_arrays(request.inputs, request.seed))
    except RecordError as error:
        raise MindferryError(str(error)) from None
    return tuple(tuple(said for said, _ in group) for group in groups)


def buffer_errors(request: BuildRequest, link: Link) -> dict[str, float]:
    """In the worker: a Keras network has no buffers besides its weights."""
    return {}


def predict(request: PredictRequest, link: Link) -> Found:
    """In the worker, after `record`: the saved predictions."""
    single: Network = link.state["single"]

    def scored() -> Iterator[tuple[Any, Any]]:
        for inputs, labels in batches(request.data, request.samples):
            link.doing("predicting")
            found = leaves(single.call(inputs, {}, False), is_tensor)[0].numpy()
            yield found, labels.numpy() if is_tensor(labels) else labels

    return Found(str(save(scored(), link.scratch, lambda count: link.say(f"{count} samples"))))
