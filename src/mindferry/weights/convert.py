"""Carry a checkpoint over: plan the names, check what can be checked, then copy the bytes."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..artifacts import STATE, ProjectConversion, WeightsReport, load
from ..errors import MindferryError
from .formats.entry import CHUNK, Advance, Checkpoint, Entry, silent
from .formats.files import open_checkpoint, write_checkpoint
from .match import Move, Plan, Record, match, match_reverse
from .outcome import WeightsMismatchError, report_of
from .sources import Sources, read_sources
from .structure import infer, without_doubles
from .transforms import combine
from .usermap import UserMap, read_user_map
from .verbatim import has_own_names, keep_names

if TYPE_CHECKING:
    from .transforms import Array


def convert_weights(
    source: str | Path,
    output: str | Path,
    *,
    model: str | None = None,
    project: str | Path | None = None,
    names: str | Path | None = None,
    key: str | None = None,
    reverse: bool = False,
    strict: bool = True,
    record: Record | None = None,
    shard_bytes: int = 0,
    allowed: Iterable[str] = (),
    advance: Advance = silent,
    force: bool = False,
) -> WeightsReport:
    """Write `source` as `output`, in the format of its suffix, with the other framework's names and shapes.

    Names come from the cells of `model` ("pkg.mod:factory") where it is given, else from the source of the converted
    `project` and the file's structure. With `strict`, nothing is written unless every parameter finds its place.
    An existing `output` is replaced with `force` only, and never if it is the source.
    """
    source, output = Path(source), Path(output)
    project = Path(project) if project is not None else None
    user_map = read_user_map(Path(names)) if names else UserMap()
    noted = record_of(project)
    record = record if record is not None else noted.parameter_names if noted else None
    with open_checkpoint(source, key, frozenset(allowed)) as checkpoint:
        shapes = {entry.name: entry.shape for entry in checkpoint.entries}
        if has_own_names(checkpoint):
            plan = keep_names(checkpoint)
        elif model is None:
            plan = infer(shapes, user_map, sources_of(project, noted), reverse)
        else:
            plan = _plan_for(model, project or Path(), shapes, user_map, record, reverse)
        plan = _complete(plan, checkpoint)
        dtypes = {entry.name: entry.dtype for entry in checkpoint.entries}
        report = report_of(plan, dtypes, str(source), str(output), checkpoint.key, checkpoint.others)
        if strict and not report.complete:
            raise WeightsMismatchError(report)
        entries = moved(plan.moves, checkpoint)
        if not entries:
            raise MindferryError(f"{source}: no parameter found its place, so there is nothing to write; check --model")
        style = "pt" if reverse else "ms"
        write_checkpoint(
            output,
            entries,
            style,
            shard_bytes=shard_bytes,
            check=checkpoint.verify,
            advance=advance,
            force=force,
            sources=(checkpoint.path, *(file.path for file in checkpoint.files)),
        )
    return report


def _plan_for(
    model: str,
    project: Path,
    shapes: dict[str, tuple[int, ...]],
    user_map: UserMap,
    record: Record | None,
    reverse: bool,
) -> Plan:
    from .build import tree_of

    tree = tree_of(model, project)
    return match_reverse(tree, shapes, user_map, record) if reverse else match(tree, shapes, user_map, record)


def record_of(project: Path | None) -> ProjectConversion | None:
    """What `mindferry convert` noted about a project, where it did."""
    if project is None or not (project / STATE / "convert.json").exists():
        return None
    return load(ProjectConversion, project, "convert")


def sources_of(project: Path | None, record: ProjectConversion | None) -> Sources | None:
    """The layers that a converted project's own files name."""
    if project is None or record is None:
        return None
    return read_sources(sorted(project.rglob("*.py")))


def moved(moves: Iterable[Move], checkpoint: Checkpoint) -> list[Entry]:
    """The entries to write: the file's own under new names and shapes, and those that are computed."""
    by_name = {entry.name: entry for entry in checkpoint.entries}
    entries = []
    for move in moves:
        first = by_name[move.sources[0]]
        if move.fold:
            sources = [by_name[name] for name in move.sources]
            dtype = sources[0].dtype
            if dtype.startswith("float8"):
                raise MindferryError(f"{first.name} is {dtype}, which can't be computed with; save it as another type")
            entries.append(Entry(move.target, dtype, move.shape, compute=_folded(move, sources)))
        else:
            entries.append(dataclasses.replace(first, name=move.target, shape=move.shape))
    return entries


def _folded(move: Move, sources: list[Entry]) -> Any:
    def compute() -> Array:
        dtype = sources[0].dtype
        is_short = dtype in ("bfloat16", "float16") and "norm" in move.fold
        arrays = [widen(entry) if is_short else entry.array() for entry in sources]
        made = combine(move.fold, arrays, move.target)
        return narrow(made, dtype) if is_short else made

    return compute


def widen(entry: Entry) -> Array:
    """Half-precision values as float32, which holds them exactly."""
    import numpy as np

    raw = entry.array()
    if entry.dtype == "bfloat16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    return raw.astype(np.float32)


def narrow(array: Array, dtype: str) -> Array:
    """float32 back to half precision, rounded to the nearest, ties to even."""
    import numpy as np

    if dtype == "float16":
        return array.astype(np.float16)
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(array), np.uint32(0x7FC0), rounded).astype(np.uint16)


def _complete(plan: Plan, checkpoint: Checkpoint) -> Plan:
    """Add what only the file tells: ties that it doesn't keep, targets claimed twice, values that are no tensors."""
    by_name = {entry.name: entry for entry in checkpoint.entries}
    first = {move.target: move.sources[0] for move in plan.moves}
    torn = [
        f"{alias.sources[0]} is tied to {first[alias.target]} in the model, and differs from it in the file"
        for alias in plan.aliases
        if not is_same(by_name[alias.sources[0]], by_name[first[alias.target]])
    ]
    unexpected = plan.unexpected + tuple(f"{name} (no tensor)" for name in checkpoint.extras)
    moves, doubled = without_doubles(plan.moves)
    return dataclasses.replace(plan, moves=moves, mismatched=(*plan.mismatched, *torn, *doubled), unexpected=unexpected)


def is_same(one: Entry, other: Entry) -> bool:
    """Same type and bytes, compared a piece at a time."""
    if one.spans and one.spans == other.spans and one.dtype == other.dtype:
        return True
    if one.dtype != other.dtype or one.nbytes != other.nbytes:
        return False
    if len(one.spans) != 1 or len(other.spans) != 1:
        return _digest(one) == _digest(other)
    pieces = zip(one.chunks(bytearray(CHUNK)), other.chunks(bytearray(CHUNK)), strict=True)
    return all(a == b for a, b in pieces)


def _digest(entry: Entry) -> bytes:
    """Of the values: for entries whose pieces end in different places."""
    whole = hashlib.blake2b()
    for chunk in entry.chunks(bytearray(CHUNK)):
        whole.update(chunk)
    return whole.digest()
