"""Keras' and TensorFlow's files: networks that were converted from there find their weights by the same names, so none changes."""

from __future__ import annotations

from collections.abc import Sequence

from .formats.entry import Checkpoint, Entry
from .formats.keras import VARIABLES
from .match import Move, Plan

FORMATS = frozenset({"keras", "tensorflow"})
TRAINING = ("optimizer/", "save_counter", "_optimizer/")
INSIDE = ("/seed_generator/", "/.OPTIMIZER_SLOT/")
SEED = ("int64", (2,))


def has_own_names(checkpoint: Checkpoint) -> bool:
    """Whether the names are those of a Keras network, in its own file or in a .ckpt that was made from one."""
    return checkpoint.format in FORMATS or any(VARIABLES in f"/{entry.name}" for entry in checkpoint.entries)


def keep_names(checkpoint: Checkpoint) -> Plan:
    """Each tensor goes where it was; what belongs to training, and the state of random numbers, stays behind."""
    if exported := _in_order(checkpoint.entries):
        moves = [
            Move((entry.name,), f"{place}:{entry.name}", entry.shape, "exact") for place, entry in enumerate(exported)
        ]
    else:
        kept = [entry for entry in checkpoint.entries if not _is_training(entry.name)]
        moves = [Move((entry.name,), entry.name, entry.shape, "exact") for entry in kept]
    taken = {move.sources[0] for move in moves}
    return Plan(tuple(moves), dropped=tuple(entry.name for entry in checkpoint.entries if entry.name not in taken))


def _is_training(name: str) -> bool:
    return name.startswith(TRAINING) or any(part in f"/{name}" for part in INSIDE)


def _in_order(entries: Sequence[Entry]) -> list[Entry]:
    """What `model.export` saved: no names, but the network's order, with the state of random numbers in between."""
    numbered = {
        entry.name.removeprefix("variables/"): entry for entry in entries if entry.name.startswith("variables/")
    }
    if not numbered or not all(map(str.isdigit, numbered)):
        return []
    ordered = [numbered[place] for place in sorted(numbered, key=int)]
    return [entry for entry in ordered if (entry.dtype, entry.shape) != SEED]
