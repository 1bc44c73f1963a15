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


def layer_of(classes: Iterable[str], record: Mapping[str, Mapping[str, str]] | None = None) -> tuple[Layer, bool]:
    """The layer that the nearest of `classes` stands for, and whether the conversion record said so."""
    for name in classes:
        for recorded, names in (record or {}).items():
            if short(recorded) == name or (not name.startswith("nn.") and recorded.rpartition(".")[2] == name.rpartition(".")[2]):
                built_in = LAYERS.get(name, PLAIN)
                return Layer({**built_in.names, **names}, built_in.children, built_in.widened, built_in.optional), True
        if name in LAYERS:
            return LAYERS[name], False
    return PLAIN, False


def short(name: str) -> str:
    """`mindspore.nn.layer.conv.Conv2d` and `mindspore.nn.Conv2d` -> `nn.Conv2d`; others keep their full name."""
    if name.startswith("mindspore.nn."):
        return f"nn.{name.rpartition('.')[2]}"
    return name
