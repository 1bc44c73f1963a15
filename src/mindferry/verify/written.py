"""What a golden file holds besides what was computed: weights, inputs, buffers, and the errors as JSON."""

from __future__ import annotations

from typing import Any

from .capture import is_tensor
from .goldenfile import GoldenWriter
from .scale import LARGE

Tensor = Any  # torch.Tensor


def write_weights(model: Any, writer: GoldenWriter) -> dict[str, str]:
    """State names -> keys; tied weights are written once."""
    places: dict[tuple[int, tuple[int, ...]], str] = {}
    keys = {}
    for name, tensor in model.state_dict().items():
        if is_tensor(tensor):
            place = (tensor.data_ptr(), tuple(tensor.shape))
            if place not in places or not tensor.numel():
                places[place] = f"weights/{name}"
                writer.write(places[place], tensor)
            keys[name] = places[place]
    return keys


def write_inputs(kind: str, inputs: list[tuple[str, Any]], writer: GoldenWriter) -> list[dict[str, Any]]:
    facts = []
    for index, (name, value) in enumerate(inputs):
        if is_tensor(value):
            writer.write(f"{kind}/{index}", value)
            facts.append({"name": name, "key": f"{kind}/{index}"})
        else:
            facts.append({"name": name, "literal": value})
    return facts


def write_tensors(kind: str, tensors: dict[str, Tensor], writer: GoldenWriter) -> dict[str, str]:
    for name, tensor in tensors.items():
        writer.write(f"{kind}/{name}", tensor)
    return {name: f"{kind}/{name}" for name in tensors}


def write_left(model: Any, names: list[str], writer: GoldenWriter, mode: str) -> dict[str, str]:
    """Tensors that a call leaves in attributes: path -> key."""
    modules, keys = dict(model.named_modules()), {}
    for path in names:
        owner, _, name = path.rpartition(".")
        value: Any = getattr(modules.get(owner), name, None)
        if is_tensor(value) and not value.is_sparse:
            keys[path] = f"{mode}/left/{path}"
            writer.write(keys[path], value)
    return keys


def json_errors(errors: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Without what only the recorder needs, but with whether there are masks."""
    return {key: _facts(facts) for key, facts in errors.items()}


def _facts(facts: dict[str, float]) -> dict[str, float]:
    is_plain = "cut" not in facts and facts["scale"] < LARGE
    return {name: value for name, value in facts.items() if name != "cut"} | ({"is_plain": True} if is_plain else {})
