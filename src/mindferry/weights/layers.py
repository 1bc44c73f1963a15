"""The MindSpore layers that name or shape a parameter otherwise than torch does. All others keep torch's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

AFFINE = {"weight": "gamma", "bias": "beta"}
TRACKED = {**AFFINE, "running_mean": "moving_mean", "running_var": "moving_variance"}


@dataclass(frozen=True, slots=True)
class Layer:
    """How one MindSpore class spells what its torch counterpart holds."""

    names: Mapping[str, str] = field(default_factory=dict)  # torch parameter -> MindSpore parameter
    children: Mapping[str, str] = field(default_factory=dict)  # torch child -> MindSpore child; "" is the layer itself
    widened: frozenset[str] = frozenset()  # MindSpore parameters that have an extra axis 2 of length 1
    optional: frozenset[str] = frozenset()  # MindSpore parameters that torch's layer has by option only


_NORM = Layer(TRACKED, optional=frozenset(TRACKED.values()))
_TRANSFORMER = Layer(children={"linear1": "dense1", "linear2": "dense2"})

LAYERS: Mapping[str, Layer] = {
    "nn.BatchNorm1d": _NORM,
    "nn.BatchNorm2d": _NORM,
    "nn.BatchNorm3d": Layer(children={"": "bn2d"}),
    "nn.SyncBatchNorm": _NORM,
    "nn.InstanceNorm1d": _NORM,
    "nn.InstanceNorm2d": _NORM,
    "nn.InstanceNorm3d": _NORM,
    "nn.LayerNorm": Layer(AFFINE, optional=frozenset(AFFINE.values())),
    "nn.GroupNorm": Layer(AFFINE, optional=frozenset(AFFINE.values())),
    "nn.Embedding": Layer({"weight": "embedding_table"}),
    "nn.EmbeddingLookup": Layer({"weight": "embedding_table"}),
    "nn.PReLU": Layer({"weight": "w"}),
    "nn.Conv1d": Layer(widened=frozenset({"weight"})),
    "nn.Conv1dTranspose": Layer(widened=frozenset({"weight"})),
    "nn.TransformerEncoderLayer": _TRANSFORMER,
    "nn.TransformerDecoderLayer": _TRANSFORMER,
}

PLAIN = Layer()

# What MindSpore's own composite layers hold, for when only their name is known.
_TRANSFORMER_INSIDE = {"linear1": "nn.Dense", "linear2": "nn.Dense", "dense1": "nn.Dense", "dense2": "nn.Dense"} | {
    f"norm{number}": "nn.LayerNorm" for number in (1, 2, 3)
}
INSIDE: Mapping[str, Mapping[str, str]] = {
    "nn.BatchNorm3d": {"bn2d": "nn.BatchNorm2d"},
    "nn.TransformerEncoderLayer": _TRANSFORMER_INSIDE,
    "nn.TransformerDecoderLayer": _TRANSFORMER_INSIDE,
}


def layer_of(classes: Iterable[str], record: Mapping[str, Mapping[str, str]] | None = None) -> tuple[Layer, bool]:
    """The layer that the nearest of `classes` stands for, and whether only the conversion record knew it."""
    for name in classes:
        if name in LAYERS:
            return LAYERS[name], False
        for recorded, names in (record or {}).items():
            is_helper = not recorded.startswith("mindspore.") and recorded.rpartition(".")[2] == name.rpartition(".")[2]
            if short(recorded) == name or is_helper:
                return Layer(names), True
    return PLAIN, False


def short(name: str) -> str:
    """`mindspore.nn.layer.conv.Conv2d` and `mindspore.nn.Conv2d` -> `nn.Conv2d`; others keep their full name."""
    if name.startswith("mindspore.nn."):
        return f"nn.{name.rpartition('.')[2]}"
    return name
