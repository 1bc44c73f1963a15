"""Names without a model: from the conversion record and the checkpoint's own structure; by pattern as a last resort."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .layers import AFFINE, TRACKED, short
from .match import Move, Plan, Record, Shape, is_counter, is_optimizer_state, wrapper_prefix
from .transforms import transformed_shape
from .usermap import UserMap

EMBEDDING = re.compile(r"emb|wte|wpe|vocab|^shared$|relative_attention_bias|lookup", re.IGNORECASE)
ACTIVATION = re.compile(r"act|relu", re.IGNORECASE)
NORMS = ("Norm1d", "Norm2d", "Norm3d", "LayerNorm", "GroupNorm", "SyncBatchNorm")
# Suffixes under which torch keeps the factors of a normed weight -> (what folds them, which factor has the shape)
FACTORS = (
    (("_g", "_v"), "weight_norm", 1),
    (("_orig", "_u", "_v"), "spectral_norm", 0),
)
PARAMETRIZED = (
    (("original0", "original1"), "weight_norm", 1),
    (("original", "0._u", "0._v"), "spectral_norm", 0),
)
Decision = tuple[str, Shape, str]  # local name, shape, how


def infer(shapes: Mapping[str, Shape], names: UserMap, record: Record | None, reverse: bool) -> Plan:
    """Every name of a checkpoint as the other framework spells it."""
    known = _Known(shapes, record)
    decide = known.backward if reverse else known.forward
    prefix = "" if reverse else wrapper_prefix(shapes)
    folded = {} if reverse else _folds(shapes)
    moves, dropped = [], []
    for name, shape in shapes.items():
        if mapped := names.target(name):
            moves.append(Move((name,), mapped[0], transformed_shape(mapped[1], shape, name), "map", mapped[1]))
        elif names.drops(name) or is_counter(name, shapes) or (reverse and is_optimizer_state(name, shapes)):
            dropped.append(name)
        elif name in folded:
            moves += [folded[name]] if folded[name].sources[0] == name else []
        else:
            local, new_shape, how = decide(name)
            owner = _children(name.rpartition(".")[0], known, reverse)
            target = f"{owner[0]}.{local}" if owner[0] else local
            moves.append(Move((name,), target.removeprefix(prefix), new_shape, owner[1] if owner[1] else how))
    return Plan(tuple(moves), dropped=tuple(dropped))


class _Known:
    """What the record and the siblings of a parameter say about the layer that holds it."""

    def __init__(self, shapes: Mapping[str, Shape], record: Record | None) -> None:
        self.shapes = shapes
        self.classes = None if record is None else {short(name).rpartition(".")[2] for name in record}
        # With 3-D convolutions, a batch norm is probably a 3-D one, which MindSpore names otherwise.
        self.is_volumetric = self.may_hold("BatchNorm3d") and any(len(shape) == 5 for shape in shapes.values())

    @property
    def how(self) -> str:
        """What a decision rests on that the structure suggests and the record, if there is one, allows."""
        return "pattern" if self.classes is None else "record"

    def may_hold(self, *endings: str) -> bool:
        return self.classes is None or any(name.endswith(endings) for name in self.classes)

    def sibling(self, name: str, local: str) -> Shape | None:
        owner, dot, _ = name.rpartition(".")
        return self.shapes.get(f"{owner}{dot}{local}")

    def forward(self, name: str) -> Decision:
        local, shape = name.rpartition(".")[2], self.shapes[name]
        if local in TRACKED and self.sibling(name, "running_mean") and self.sibling(name, "running_var"):
            if self.sibling(name, "num_batches_tracked") is not None:
                return TRACKED[local], shape, "structure"
            return TRACKED[local], shape, "pattern"  # before torch 0.4, or a frozen norm that keeps torch's names
        if local in AFFINE and self.is_norm(name):
            return (AFFINE[local] if self.may_hold(*NORMS) else local), shape, self.how
        if local == "weight" and len(shape) == 3:
            wide = (*shape[:2], 1, *shape[2:])
            return local, (wide if self.may_hold("Conv1d", "Conv1dTranspose") else shape), self.how
        if local == "weight" and len(shape) <= 2 and self.sibling(name, "bias") is None:
            return self.lone_weight(name, shape)
        return local, shape, "exact"

    def is_norm(self, name: str) -> bool:
        weight, bias = self.sibling(name, "weight"), self.sibling(name, "bias")
        return weight is not None and weight == bias and len(weight) == 1

    def lone_weight(self, name: str, shape: Shape) -> Decision:
        """A Linear without bias, an embedding, a PReLU or somebody's own norm: only its owner's name tells."""
        owner = name.rpartition(".")[0].rpartition(".")[2]
        if len(shape) == 2 and self.may_hold("Embedding", "EmbeddingLookup"):
            return ("embedding_table" if EMBEDDING.search(owner) else "weight"), shape, "pattern"
        if len(shape) == 1 and self.may_hold("PReLU", "LayerNorm"):
            return ("w" if ACTIVATION.search(owner) else "weight"), shape, "pattern"
        return "weight", shape, self.how if shape else "exact"

    def backward(self, name: str) -> Decision:
        local, shape = name.rpartition(".")[2], self.shapes[name]
        ours = {theirs: torchs for torchs, theirs in TRACKED.items()}
        is_tracked = self.sibling(name, "moving_mean") is not None and self.sibling(name, "moving_variance") is not None
        is_affine = self.sibling(name, "gamma") is not None and self.sibling(name, "beta") is not None
        if local in ours and (is_tracked or is_affine):
            return ours[local], shape, "structure"
        if local == "embedding_table":
            return "weight", shape, "structure"
        if local == "w" and len(shape) == 1 and self.may_hold("PReLU"):
            return "weight", shape, self.how
        if local == "weight" and len(shape) == 4 and shape[2] == 1:
            return self.narrow(shape)
        return local, shape, "exact"

    def narrow(self, shape: Shape) -> Decision:
        """A Conv1d, or a Conv2d one pixel high."""
        if self.classes is None or not self.may_hold("Conv1d", "Conv1dTranspose"):
            return "weight", shape, self.how
        if self.may_hold("Conv2d", "Conv2dTranspose"):
            return "weight", shape, "pattern"
        return "weight", (*shape[:2], *shape[3:]), "record"


def _children(owner: str, known: _Known, reverse: bool) -> tuple[str, str]:
    """Renamed cells on the way: a transformer layer's linear1 is dense1, a 3-D batch norm's cell is its bn2d."""
    pairs = {"dense1": "linear1", "dense2": "linear2"} if reverse else {"linear1": "dense1", "linear2": "dense2"}
    parent, dot, last = owner.rpartition(".")
    if last in pairs and f"{parent}{dot}self_attn.in_proj_weight" in known.shapes:
        if known.may_hold("TransformerEncoderLayer", "TransformerDecoderLayer"):
            return f"{parent}{dot}{pairs[last]}", known.how
        return owner, known.how
    if reverse and last == "bn2d" and f"{owner}.moving_mean" in known.shapes:
        return (parent, known.how) if known.may_hold("BatchNorm3d") else (owner, known.how)
    if not reverse and known.is_volumetric and f"{owner}.running_mean".lstrip(".") in known.shapes:
        is_mixed = known.may_hold("BatchNorm1d", "BatchNorm2d")
        return f"{owner}.bn2d".lstrip("."), "pattern" if is_mixed else known.how
    return owner, ""


def _folds(shapes: Mapping[str, Shape]) -> dict[str, Move]:
    """The factors of weight and spectral norm, each with the move that makes one weight of them."""
    found: dict[str, Move] = {}
    for name in shapes:
        owner, dot, local = name.rpartition(".")
        if owner.rpartition(".")[0].endswith("parametrizations"):
            stem, target, forms = f"{owner}.", owner.replace("parametrizations.", "", 1), PARAMETRIZED
        else:
            stem = target = f"{owner}{dot}{local.rpartition('_')[0]}"
            forms = FACTORS
        for endings, fold, whole in forms:
            sources = tuple(stem + ending for ending in endings)
            if name in sources[:1] and all(source in shapes for source in sources):
                move = Move(sources, target, shapes[sources[whole]], "pattern", fold)
                found.update(dict.fromkeys(sources, move))
    return found


def duplicates(moves: Iterable[Move]) -> list[str]:
    """Targets that two sources claim."""
    seen: dict[str, str] = {}
    lines = []
    for move in moves:
        if move.target in seen:
            lines.append(f"{move.sources[0]} and {seen[move.target]} both become {move.target}")
        seen[move.target] = move.sources[0]
    return lines
