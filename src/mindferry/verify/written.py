"""What a golden file holds besides what was computed: weights, inputs, buffers, and the errors as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from .beside import methods_beside
from .capture import is_tensor
from .goldenfile import GoldenWriter
from .nesting import tensors_at
from .outside import moved, new_tensors
from .reach import Reach
from .scale import LARGE
from .surroundings import Starts, loose_buffers, plain_tables, what_is_beside

Tensor = Any  # torch.Tensor


def facts_of_code(reach: Reach, is_quick: bool, kinds: set[type]) -> dict[str, Any]:
    """What of the code that ran did not run, the numbers that it holds, and methods of these classes that nothing called."""
    facts: dict[str, Any] = {"unrun": [asdict(each) for each in reach.unreached()]}
    facts["raised"] = reach.raised() if not is_quick else None  # there, nothing was watched
    facts["bounds"] = None if is_quick else reach.bounds()
    facts["ran"] = sorted({getattr(code, "co_qualname", code.co_name) for code in reach.lines})
    facts["methods"] = (
        {} if is_quick else methods_beside(kinds | reach.made(), "torch.", {*reach.lines, *reach.called}, reach.is_own)
    )
    found = reach.literals() if not is_quick else None
    if found is not None:
        facts["literals"], facts["known"] = ([[each.value, each.is_size] for each in part] for part in found)
    return facts


def facts_beside(model: Any, starts: Starts, writer: GoldenWriter, is_quick: bool, has_weights: bool) -> dict[str, Any]:
    """How weights start, and what the network is beside what it computes."""
    facts: dict[str, Any] = {"constants": starts.constants, "drawn": starts.drawn}
    facts["starts"] = write_tensors("start", starts.parts, writer)
    facts["types"] = {} if is_quick else other_types(model)
    facts["tables"] = {} if is_quick else write_tensors("table", plain_tables(model), writer)
    facts["initial"] = write_tensors("initial", starts.buffers if has_weights else {}, writer)
    facts["loose"] = write_tensors("loose", loose_buffers(model) if has_weights else {}, writer)
    return facts | {"beside": {} if is_quick else what_is_beside(model)}


def other_types(model: Any) -> dict[str, str]:
    """Parameters and buffers of numbers that are not float32: name -> type. The file holds them all in float32."""
    found = {
        name: str(tensor.dtype).removeprefix("torch.")
        for name, tensor in model.state_dict().items()
        if is_tensor(tensor)
    }
    return {name: kind for name, kind in found.items() if "float" in kind and kind != "float32"}


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
    """Tensors that a call leaves in attributes, alone or in a list: path -> key."""
    modules, keys = dict(model.named_modules()), {}
    for path in names:
        owner, _, name = path.rpartition(".")
        for place, value in tensors_at(path, getattr(modules.get(owner), name, None), is_tensor):
            if not value.is_sparse:
                keys[place] = f"{mode}/left/{place}"
                writer.write(keys[place], value)
    return keys


def kept_numbers(model: Any, names: list[str]) -> dict[str, float]:
    """Of the attributes that a call changes, those that are numbers now: counts, steps."""
    modules = dict(model.named_modules())
    found = {path: getattr(modules.get(path.rpartition(".")[0]), path.rpartition(".")[2], None) for path in names}
    return {path: value for path, value in found.items() if isinstance(value, bool | int | float)}


def write_outside(
    before: Mapping[str, Any], after: Mapping[str, Any], writer: GoldenWriter, mode: str
) -> dict[str, str]:
    """What a call changes outside of the modules: place -> key of a tensor, "" for a number."""
    keys = dict.fromkeys(moved(before, after, is_tensor), "")
    for place, tensor in new_tensors(before, after, is_tensor).items():
        if not tensor.is_sparse:
            keys[place] = f"{mode}/outside/{place}"
            writer.write(keys[place], tensor)
    return keys


def json_errors(errors: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Without what only the recorder needs, but with whether there are masks."""
    return {key: _facts(facts) for key, facts in errors.items()}


def _facts(facts: dict[str, float]) -> dict[str, float]:
    is_plain = "cut" not in facts and facts["scale"] < LARGE
    return {name: value for name, value in facts.items() if name != "cut"} | ({"is_plain": True} if is_plain else {})
