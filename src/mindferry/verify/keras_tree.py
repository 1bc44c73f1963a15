"""The layers of a Keras network under names that both sides give them, and the weights that each layer holds itself.

`encoder.blocks.0` where attributes hold the layers; in a Sequential or a functional network the name that the code gives, or else
the class and a number among the siblings: Keras' own numbers go on counting over all networks of a process.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Layer = Any  # Keras', or a helper's
Children = Callable[
    [Layer], tuple[list[Layer], Mapping[str, Any]]
]  # a layer's children, and the attributes that hold them
MODES = ("training", "mask")


def layer_tree(root: Layer, children: Children) -> dict[str, Layer]:
    """Every layer once, by its path; the network itself is ""."""
    found: dict[str, Layer] = {"": root}
    seen = {id(root)}
    waiting = [("", root)]
    while waiting:
        path, layer = waiting.pop(0)
        for name, child in _named(*children(layer)):
            if id(child) not in seen:
                seen.add(id(child))
                place = f"{path}.{name}" if path else name
                found[place] = child
                waiting.append((place, child))
    return found


def _named(layers: Sequence[Layer], attributes: Mapping[str, Any]) -> Iterator[tuple[str, Layer]]:
    held: dict[int, str] = {}
    for name, value in attributes.items():
        for way, each in _ways(name, value):
            held.setdefault(id(each), way)
    used: dict[str, int] = {}
    for layer in layers:
        if id(layer) in held:
            yield held[id(layer)], layer
            continue
        name = own_name(layer)
        number = used[name] = used.get(name, -1) + 1
        yield f"{name}_{number}" if number else name, layer


def _ways(way: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key in value:
            yield from _ways(f"{way}.{key}", value[key])
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _ways(f"{way}.{index}", each)
    else:
        yield way, value


def own_name(layer: Layer) -> str:
    """The name that the code gives; without the number, if Keras made it of the class."""
    name, kind = str(layer.name), snake_case(type(layer).__name__)
    kinds = (kind, "functional") if kind in ("model", "functional") else (kind,)
    made = next((each for each in kinds if re.fullmatch(rf"{re.escape(each)}(_\d+)?", name)), "")
    return ("functional" if made and len(kinds) > 1 else made or name).replace(".", "_")


def snake_case(name: str) -> str:
    """As Keras does it: Conv2D is conv2d."""
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def own_weights(tree: Mapping[str, Layer], children: Children) -> dict[str, list[Any]]:
    """Path -> the weights that a layer has without its children, in Keras' order; a shared one where it comes first."""
    found: dict[str, list[Any]] = {}
    seen: set[int] = set()
    for path, layer in tree.items():
        below = {id(each) for child in children(layer)[0] for each in child.weights}
        own = [each for each in layer.weights if id(each) not in below and id(each) not in seen]
        seen.update(map(id, own))
        found[path] = own
    return found


def packed(layer: Layer, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Several inputs as the network takes them: a list, or a dictionary, where its `call` has one parameter for all of them."""
    try:
        names = inspect.signature(layer.call if hasattr(layer, "call") else layer).parameters
    except (TypeError, ValueError):
        return list(args), dict(kwargs)
    plain = [each for each in names.values() if each.name not in MODES]
    places = [each for each in plain if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if kwargs and not args and places and not set(kwargs) & set(names):
        return [dict(kwargs)], {}
    if len(args) > max(1, len(places)) and not any(each.kind is each.VAR_POSITIONAL for each in plain):
        return [list(args)], dict(kwargs)
    return list(args), dict(kwargs)
