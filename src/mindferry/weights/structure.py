"""Names without a model: from the converted project's source and the file's own structure; else by pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .layers import AFFINE, TRACKED, Layer
from .match import Move, Plan, Shape, is_counter, is_optimizer_state, wrapper_prefix
from .sources import Sources
from .transforms import transformed_shape
from .usermap import UserMap

EMBEDDING = re.compile(r"emb|wte|wpe|vocab|^shared$|relative_attention_bias|lookup", re.IGNORECASE)
ACTIVATION = re.compile(r"act|relu", re.IGNORECASE)
# Suffixes under which torch keeps the factors of a normed weight -> (what folds them, which factor has the shape)
FACTORS = (
    (("_g", "_v"), "weight_norm", 1),
    (("_orig", "_u", "_v"), "spectral_norm", 0),
)
PARAMETRIZED = (
    (("original0", "original1"), "weight_norm", 1),
    (("original", "0._u", "0._v"), "spectral_norm", 0),
)
Decision = tuple[str, str, Shape, str]  # owner, local name, shape, how


def infer(shapes: Mapping[str, Shape], names: UserMap, sources: Sources | None, reverse: bool) -> Plan:
    """Every name of a checkpoint as the other framework spells it."""
    known = _Known(shapes, sources)
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
            owner, local, new_shape, how = known.backward(name) if reverse else known.forward(name)
            target = f"{owner}.{local}" if owner else local
            moves.append(Move((name,), target.removeprefix(prefix), new_shape, how))
    return Plan(tuple(moves), dropped=tuple(dropped))


class _Known:
    """What the project's source and a parameter's siblings say about the layer that holds it."""

    def __init__(self, shapes: Mapping[str, Shape], sources: Sources | None) -> None:
        self.shapes, self.sources = shapes, sources
        # With 3-D convolutions, a batch norm is probably a 3-D one, which MindSpore names otherwise.
        self.is_volumetric = any(len(shape) == 5 for shape in shapes.values())

    def layer(self, owner: str) -> Layer | None:
        return self.sources.layer_at(owner) if self.sources and owner else None

    def sibling(self, name: str, local: str) -> Shape | None:
        owner, dot, _ = name.rpartition(".")
        return self.shapes.get(f"{owner}{dot}{local}")

    def forward(self, name: str) -> Decision:
        owner, _, local = name.rpartition(".")
        shape = self.shapes[name]
        if (layer := self.layer(owner)) is not None:
            ours = layer.names.get(local, local)
            wide = (*shape[:2], 1, *shape[2:]) if ours in layer.widened and len(shape) == 3 else shape
            if "" in layer.children:  # a 3-D batch norm: its parameters are its inner cell's
                return f"{owner}.{layer.children['']}", TRACKED.get(local, local), shape, "record"
            renamed = self.renamed(owner, {"linear1": "dense1", "linear2": "dense2"})
            return (
                (renamed or owner),
                ours,
                wide,
                "exact" if (renamed or owner, ours, wide) == (owner, local, shape) else "record",
            )
        return self.by_structure(name, owner, local, shape)

    def by_structure(self, name: str, owner: str, local: str, shape: Shape) -> Decision:
        if local in TRACKED and self.sibling(name, "running_mean") and self.sibling(name, "running_var"):
            if self.is_volumetric:
                return f"{owner}.bn2d".lstrip("."), TRACKED[local], shape, "pattern"
            # Without its counter: from before torch 0.4, or a frozen norm, which keeps torch's names.
            is_counted = self.sibling(name, "num_batches_tracked") is not None
            return owner, TRACKED[local], shape, "structure" if is_counted else "pattern"
        if self.renamed(owner, {"linear1": "dense1", "linear2": "dense2"}):
            return owner, local, shape, "pattern"  # convert's helper keeps linear1; MindSpore's own layer has dense1
        weight = self.sibling(name, "weight")
        if local in AFFINE and weight is not None and len(weight) == 1 and weight == self.sibling(name, "bias"):
            return owner, AFFINE[local], shape, "pattern"
        if local == "weight" and len(shape) == 3:
            return owner, local, (*shape[:2], 1, *shape[2:]), "pattern"
        if local == "weight" and len(shape) in (1, 2) and self.sibling(name, "bias") is None:
            # A Linear without bias, an embedding, a PReLU or somebody's own norm: only its owner's name tells.
            hints = {1: (ACTIVATION, "w"), 2: (EMBEDDING, "embedding_table")}
            pattern, ours = hints[len(shape)]
            return owner, (ours if pattern.search(owner.rpartition(".")[2]) else local), shape, "pattern"
        return owner, local, shape, "exact"

    def renamed(self, owner: str, pairs: Mapping[str, str]) -> str:
        """A transformer layer's linear1 is dense1, if the layer is the framework's own."""
        parent, dot, last = owner.rpartition(".")
        is_ours = last in pairs and f"{parent}{dot}self_attn.in_proj_weight" in self.shapes
        is_theirs = self.sources is not None and last in self.sources.attributes
        return f"{parent}{dot}{pairs[last]}" if is_ours and not is_theirs else ""

    def backward(self, name: str) -> Decision:
        owner, _, local = name.rpartition(".")
        shape = self.shapes[name]
        if (layer := self.layer(owner)) is not None:
            theirs = next((torchs for torchs, ours in layer.names.items() if ours == local), local)
            is_wide = local in layer.widened and len(shape) == 4
            narrow = (*shape[:2], *shape[3:]) if is_wide else shape
            renamed = self.renamed(owner, {"dense1": "linear1", "dense2": "linear2"}) or owner
            above = self.layer(owner.rpartition(".")[0])
            if above is not None and above.children.get("") == owner.rpartition(".")[2]:
                renamed = owner.rpartition(".")[0]
            return renamed, theirs, narrow, "exact" if (renamed, theirs, narrow) == (owner, local, shape) else "record"
        return self.back_by_structure(name, owner, local, shape)

    def back_by_structure(self, name: str, owner: str, local: str, shape: Shape) -> Decision:
        torchs = {ours: theirs for theirs, ours in TRACKED.items()}
        is_tracked = self.sibling(name, "moving_mean") is not None and self.sibling(name, "moving_variance") is not None
        is_affine = self.sibling(name, "gamma") is not None and self.sibling(name, "beta") is not None
        if local in torchs and (is_tracked or is_affine):
            parent, _, last = owner.rpartition(".")
            return (parent if last == "bn2d" else owner), torchs[local], shape, "structure"
        if local == "embedding_table":
            return owner, "weight", shape, "structure"
        if renamed := self.renamed(owner, {"dense1": "linear1", "dense2": "linear2"}):
            return renamed, local, shape, "pattern"
        if local == "w" and len(shape) == 1:
            return owner, "weight", shape, "pattern"
        is_low = local == "weight" and len(shape) == 4 and shape[2] == 1  # a Conv1d, or a Conv2d one pixel high
        return owner, local, shape, "pattern" if is_low else "exact"


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
                shape = shapes[sources[whole]]
                if fold == "spectral_norm" and shape[:1] != shapes[sources[1]]:
                    fold = (
                        "spectral_norm_1"  # u has the length of the axis that was put first: a transposed convolution
                    )
                move = Move(sources, target, shape, "pattern", fold)
                found.update(dict.fromkeys(sources, move))
    return found


def without_doubles(moves: Iterable[Move]) -> tuple[tuple[Move, ...], list[str]]:
    """One move a target, and a line for each further source that claims the same."""
    first: dict[str, Move] = {}
    lines = []
    for move in moves:
        if first.setdefault(move.target, move) is not move:
            lines.append(f"{move.sources[0]} and {first[move.target].sources[0]} both become {move.target}")
    return tuple(first.values()), lines
