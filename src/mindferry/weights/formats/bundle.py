"""TensorFlow's checkpoints: a sorted table of names (.index) and files of bytes (.data-00000-of-00001), also inside a SavedModel.

The table is LevelDB's, its values are protobuf messages; both are read here, without TensorFlow and without protobuf.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .entry import Checkpoint, Entry, SourceFile, Span
from .limits import ENTRIES, HEADER_BYTES, NAME, RANK, bad, check_name, check_shape, shown

MAGIC = 0xDB4775248B80FB57
FOOTER = 48
TRAILER = 5  # behind each block: how it is compressed, and its checksum
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"  # which object has which tensor: the names say it too
DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
TEXT = 7
FIXED64 = 1


def index_of(folder: Path) -> Path | None:
    """The table of a SavedModel, or of the one checkpoint in a folder."""
    saved = folder / "variables" / "variables.index"
    found = [saved] if saved.is_file() else sorted(folder.glob("*.index"))
    return found[0] if len(found) == 1 else None


def is_bundle(path: Path) -> bool:
    return path.suffix == ".index" or path.with_name(path.name + ".index").is_file()


def read_bundle(path: Path) -> Checkpoint:
    index = SourceFile(path if path.suffix == ".index" else path.with_name(path.name + ".index"))
    rows = dict(_rows(index))
    shards = _Message(index.path, rows.pop("", b"")).number(1, 1)
    if not 1 <= shards <= 10_000:
        raise bad(index.path, f"announces {shards} files of bytes; the table is broken")
    stem = index.path.name.removesuffix(".index")
    files: dict[int, SourceFile] = {}
    entries, extras = [], []
    for key, raw in rows.items():
        if key == GRAPH:
            continue
        name = key.removesuffix(VALUE)
        row = _Message(index.path, raw)
        kind, shard = row.number(1), row.number(3)
        if kind == TEXT or kind == 0:
            extras.append(name)
            continue
        if kind not in DTYPES or row.parts(7) or not 0 <= shard < shards:
            raise bad(index.path, f"{shown(name)} has a type or a form that mindferry doesn't know ({kind})")
        if shard not in files:
            files[shard] = SourceFile(index.path.with_name(f"{stem}.data-{shard:05d}-of-{shards:05d}"))
        entries.append(_entry(index.path, files[shard], name, DTYPES[kind], row))
    return Checkpoint(index.path, "tensorflow", tuple(entries), (index, *files.values()), extras=tuple(extras))


def _entry(path: Path, file: SourceFile, name: str, dtype: str, row: _Message) -> Entry:
    dims = [_Message(path, part).number(1) for part in _Message(path, row.part(2)).parts(2)]
    entry = Entry(check_name(path, name), dtype, check_shape(path, name, dims))
    offset, length = row.number(4), row.number(5)
    if length != entry.nbytes or offset + length > file.size:
        raise bad(path, f"{shown(name)} has {length} bytes at {offset}, where its shape needs {entry.nbytes}")
    return Entry(name, dtype, entry.shape, (Span(file, offset, length),))


def _rows(file: SourceFile) -> Iterator[tuple[str, bytes]]:
    """Keys and values of the table, in order."""
    if file.size < FOOTER or file.size > HEADER_BYTES:
        raise bad(file.path, f"has {file.size} bytes, which no table of TensorFlow's has")
    footer = file.read(file.size - FOOTER, FOOTER)
    if struct.unpack("<Q", footer[-8:])[0] != MAGIC:
        raise bad(file.path, "is no table of TensorFlow's; give the .index file or the checkpoint's name before it")
    at = _varint(footer, _varint(footer, 0)[1])[1]  # behind the handle of the metadata
    count = taken = 0
    for _, handle in _block(file, *_handle(footer, at)):
        offset, size = _handle(handle, 0)
        taken += size
        if taken > file.size:
            raise bad(file.path, "names the same bytes again and again; the table is broken or hostile")
        for key, value in _block(file, offset, size):
            count += 1
            if count > ENTRIES:
                raise bad(file.path, f"holds more than {ENTRIES} tensors")
            yield key.decode("utf-8", "replace"), value


def _handle(data: bytes, at: int) -> tuple[int, int]:
    offset, at = _varint(data, at)
    return offset, _varint(data, at)[0]


def _block(file: SourceFile, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    data = file.read(offset, size + TRAILER)
    if data[size] != 0:
        raise bad(file.path, "is compressed, which TensorFlow's own checkpoints are not; save it again")
    if size < 4:
        raise bad(file.path, "has a block without an end; the table is broken")
    restarts = struct.unpack("<I", data[size - 4 : size])[0]
    end, at, key = size - 4 - 4 * restarts, 0, b""
    while at < end:
        shared, at = _varint(data, at)
        own, at = _varint(data, at)
        length, at = _varint(data, at)
        if shared > len(key) or shared + own > NAME or at + own + length > end:
            raise bad(file.path, f"has an entry beyond its block at byte {offset + at}; the table is broken")
        key = key[:shared] + data[at : at + own]
        yield key, data[at + own : at + own + length]
        at += own + length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise bad(Path("the table"), "has a number without end; it is broken")


@dataclass(frozen=True, slots=True)
class _Message:
    """A protobuf message: its fields by number."""

    path: Path
    data: bytes

    def fields(self) -> Iterator[tuple[int, int | bytes]]:
        at, data = 0, self.data
        while at < len(data):
            tag, at = _varint(data, at)
            match tag & 7:
                case 0:
                    value, at = _varint(data, at)
                    yield tag >> 3, value
                case 1 | 5 as kind:
                    at += 8 if kind == FIXED64 else 4
                case 2:
                    length, at = _varint(data, at)
                    if at + length > len(data):
                        raise bad(self.path, "has a message that is cut short; the table is broken")
                    yield tag >> 3, data[at : at + length]
                    at += length
                case kind:
                    raise bad(self.path, f"has a field of the unknown kind {kind}; the table is broken")

    def number(self, field: int, default: int = 0) -> int:
        found = [value for number, value in self.fields() if number == field and isinstance(value, int)]
        return found[-1] if found else default

    def parts(self, field: int) -> list[bytes]:
        found = [value for number, value in self.fields() if number == field and isinstance(value, bytes)]
        if len(found) > RANK:
            raise bad(self.path, f"has a tensor of more than {RANK} dimensions")
        return found

    def part(self, field: int) -> bytes:
        return b"".join(self.parts(field))
