"""Compare two checkpoints by mapped name, shape and value, whichever framework wrote each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .convert import is_same
from .formats.entry import Checkpoint, Entry
from .formats.files import open_checkpoint
from .match import fits, wrapper_prefix
from .numbers import is_countable, largest_difference
from .structure import infer
from .usermap import UserMap


@dataclass(frozen=True, slots=True)
class Changed:
    name: str  # as torch spells it
    reason: str
    largest: float = 0.0  # absolute difference, where the shapes agree


@dataclass(frozen=True, slots=True)
class WeightsDiff:
    one: str
    other: str
    equal: int
    changed: tuple[Changed, ...] = ()
    only_one: tuple[str, ...] = ()
    only_other: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        return not (self.changed or self.only_one or self.only_other)


def diff_weights(
    one: Path, other: Path, *, tolerance: float = 0.0, key: str | None = None, allowed: Iterable[str] = ()
) -> WeightsDiff:
    """`key` chooses in whichever of the two is a training checkpoint."""
    names = frozenset(allowed)
    with _opened(Path(one), key, names) as first, _opened(Path(other), key, names) as second:
        ours, theirs = _by_torch_name(first), _by_torch_name(second)
        changed, equal = [], 0
        for name in ours:
            if name in theirs:
                found = _compare(name, ours[name], theirs[name], tolerance)
                changed += [found] if found else []
                equal += found is None
        return WeightsDiff(
            str(one),
            str(other),
            equal,
            tuple(changed),
            tuple(name for name in ours if name not in theirs),
            tuple(name for name in theirs if name not in ours),
        )


def _opened(path: Path, key: str | None, allowed: frozenset[str]) -> Checkpoint:
    is_torch = path.suffix not in (".ckpt", ".safetensors") and not path.name.endswith(".json")
    checkpoint = open_checkpoint(path, key if is_torch else None, allowed)
    checkpoint.verify()
    return checkpoint


def _by_torch_name(checkpoint: Checkpoint) -> dict[str, Entry]:
    """MindSpore's names are turned into torch's: that way round, nearly every name tells its layer."""
    entries = {entry.name: entry for entry in checkpoint.entries}
    shapes = {name: entry.shape for name, entry in entries.items() if not name.endswith("num_batches_tracked")}
    prefix = wrapper_prefix(shapes)
    plan = infer(shapes, UserMap(), None, reverse=True)
    return {move.target.removeprefix(prefix): entries[move.sources[0]] for move in plan.moves}


def _compare(name: str, one: Entry, other: Entry, tolerance: float) -> Changed | None:
    if not fits(one.shape, other.shape, True) and not fits(other.shape, one.shape, True):
        return Changed(name, f"shape {one.shape} against {other.shape}")
    if is_same(one, other):
        return None
    if not is_countable(one) or not is_countable(other):
        return Changed(name, f"other bytes ({one.dtype} against {other.dtype})")
    largest = largest_difference(one, other)
    if one.dtype != other.dtype and largest <= tolerance:
        return None if tolerance else Changed(name, f"{one.dtype} against {other.dtype}, same values")
    if largest <= tolerance:
        return None  # zeros of either sign are the same number
    return Changed(name, f"values differ by up to {largest:.3g}", largest)
