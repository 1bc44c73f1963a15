"""safetensors: a JSON header of names, types, shapes and offsets, then the bytes. https://github.com/huggingface/safetensors"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import MindferryError
from ..dtypes import BY_SAFETENSORS, DTYPES
from .entry import CHUNK, Advance, Checkpoint, Entry, SourceFile, Span, silent, sized, write_chunks
from .limits import ENTRIES, HEADER_BYTES, bad, check_name, check_shape, shown


def read_safetensors(path: Path) -> Checkpoint:
    file = SourceFile(path)
    header, start = _header(file)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise bad(path, "has metadata that is not text; the file is broken")
    entries = [_entry(file, name, info, start) for name, info in header.items()]
    _check_layout(file, entries, start)
    return Checkpoint(path, "safetensors", tuple(entries), (file,), metadata=metadata)


def _header(file: SourceFile) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(file.read(0, 8), "little")
    if length > HEADER_BYTES or 8 + length > file.size:
        raise bad(file.path, f"announces a header of {length} bytes in a file of {file.size}; not a safetensors file")
    try:
        header = json.loads(file.read(8, length), object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise bad(file.path, f"has no readable header ({shown(error)}); the file is broken") from None
    if not isinstance(header, dict) or len(header) > ENTRIES:
        raise bad(file.path, "has no table of tensors in its header, or one that is too long")
    return header, 8 + length


def _entry(file: SourceFile, name: str, info: Any, start: int) -> Entry:
    check_name(file.path, name)
    if not isinstance(info, dict) or set(info) != {"dtype", "shape", "data_offsets"}:
        raise bad(file.path, f"{shown(name)} lacks dtype, shape or data_offsets")
    if not isinstance(info["dtype"], str) or info["dtype"] not in BY_SAFETENSORS:
        raise bad(file.path, f"{shown(name)} has the type {shown(info['dtype'])}, which mindferry doesn't know")
    shape = check_shape(file.path, name, info["shape"])
    offsets = info["data_offsets"]
    if not isinstance(offsets, list) or len(offsets) != 2 or any(type(o) is not int or o < 0 for o in offsets):
        raise bad(file.path, f"{shown(name)} has the offsets {shown(offsets)}")
    entry = Entry(
        name, BY_SAFETENSORS[info["dtype"]], shape, (Span(file, start + offsets[0], offsets[1] - offsets[0]),)
    )
    if offsets[1] - offsets[0] != entry.nbytes:
        raise bad(file.path, f"{shown(name)} has {offsets[1] - offsets[0]} bytes where its shape needs {entry.nbytes}")
    return entry


def _check_layout(file: SourceFile, entries: Sequence[Entry], start: int) -> None:
    """Tensors lie end to end: no overlap, no hole, nothing behind the last."""
    at = start
    for span in sorted((entry.spans[0] for entry in entries), key=lambda span: (span.offset, span.length)):
        if span.offset != at:
            raise bad(file.path, f"has tensors that overlap or leave a hole at byte {min(at, span.offset)}")
        at += span.length
    if at != file.size:
        raise bad(file.path, f"has {file.size} bytes where its header describes {at}; it is cut short or padded")


def write_safetensors(
    out_path: Path, entries: Sequence[Entry], metadata: dict[str, str], advance: Advance = silent
) -> None:
    """Largest element first, as the safetensors library does, so that every tensor is aligned."""
    ordered = sorted(entries, key=lambda entry: (-DTYPES[entry.dtype].size, entry.name))
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    at = 0
    for entry in ordered:
        header[entry.name] = {
            "dtype": DTYPES[entry.dtype].safetensors,
            "shape": list(entry.shape),
            "data_offsets": [at, at + entry.nbytes],
        }
        at += entry.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    buffer = bytearray(CHUNK)
    with sized(out_path, 8 + len(text) + at) as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for entry in ordered:
            write_chunks(out, entry, buffer, advance)


def check_safetensors(entry: Entry) -> None:
    if not DTYPES[entry.dtype].safetensors:
        raise MindferryError(f"{entry.name} is {entry.dtype}, which safetensors can't hold; write a .pth instead")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key appears twice")
    return table


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number")
