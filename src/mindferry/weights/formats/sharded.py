"""A model in several files with a JSON index of which tensor is where, as transformers saves large ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...files import is_name
from .entry import Checkpoint, Entry
from .limits import ENTRIES, HEADER_BYTES, bad, check_name, shown


def read_sharded(path: Path, read: Callable[[Path], Checkpoint]) -> Checkpoint:
    """`read` opens one shard."""
    places = _index(path)
    shards = {name: read(path.parent / name) for name in sorted(set(places.values()))}
    entries = []
    by_shard = {name: {entry.name: entry for entry in shard.entries} for name, shard in shards.items()}
    for name, file_name in places.items():
        if name not in by_shard[file_name]:
            raise bad(path, f"says that {shown(name)} is in {shown(file_name)}, which doesn't hold it")
        entries.append(by_shard[file_name][name])
    strays = [name for file_name, table in by_shard.items() for name in table if places.get(name) != file_name]
    if strays:
        raise bad(path, f"doesn't list {shown(strays[0])} in the file that holds it")
    files = tuple(file for shard in shards.values() for file in shard.files)
    checks = tuple(span for shard in shards.values() for span in shard.checks)
    extras = tuple(extra for shard in shards.values() for extra in shard.extras)
    return Checkpoint(path, "sharded", tuple(entries), files, checks, extras=extras)


def _index(path: Path) -> dict[str, str]:
    try:
        if path.stat().st_size > HEADER_BYTES:
            raise bad(path, f"is larger than an index may be ({HEADER_BYTES} bytes)")
        body = json.loads(path.read_bytes(), object_pairs_hook=_unique)
    except (OSError, ValueError, RecursionError) as error:
        raise bad(path, f"is no readable index ({shown(error)})") from None
    places = body.get("weight_map") if isinstance(body, dict) else None
    if not isinstance(places, dict) or not places or len(places) > ENTRIES:
        raise bad(path, "has no weight_map; an index of shards maps tensor names to file names")
    for name, file_name in places.items():
        check_name(path, name)
        is_plain = isinstance(file_name, str) and file_name.isprintable() and Path(file_name).name == file_name
        if not is_plain or file_name == ".." or not is_name(file_name):
            raise bad(path, f"points to {shown(file_name)!r}; shards lie beside their index, under plain names")
        if file_name.endswith(".json"):
            raise bad(path, f"points to the index {shown(file_name)!r} where a shard should be")
    for file_name in set(places.values()):
        if not (path.parent / file_name).is_file():
            raise bad(path, f"points to {shown(file_name)!r}, and there is no such file beside it")
    return places


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key appears twice")
    return table


def split(entries: Sequence[Entry], limit: int) -> list[list[Entry]]:
    """Entries in order, in groups of at most `limit` bytes; a tensor that is larger has a group of its own."""
    groups: list[list[Entry]] = [[]]
    size = 0
    for entry in entries:
        if groups[-1] and size + entry.nbytes > limit:
            groups.append([])
            size = 0
        groups[-1].append(entry)
        size += entry.nbytes
    return groups


def shard_names(path: Path, count: int) -> list[str]:
    return [f"{path.stem}-{number:05}-of-{count:05}{path.suffix}" for number in range(1, count + 1)]


def index_text(groups: Sequence[Sequence[Entry]], names: Sequence[str]) -> str:
    places = {entry.name: name for group, name in zip(groups, names, strict=True) for entry in group}
    total = sum(entry.nbytes for group in groups for entry in group)
    body = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"
