"""torch.save's files: a zip of a pickle and one record a storage, or the older stream of pickles."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..dtypes import DTYPES
from .entry import Checkpoint, Entry, SourceFile, Span
from .limits import PICKLE_BYTES, bad, check_expansion, check_name, shown
from .nested import Found, find_parameters
from .pickled import Interpreter
from .rebuilt import NumpyArray, Storage, TensorRef
from .strided import pieces
from .zipped import zip_records

MAGIC = 0x1950A86A20F9469CFC6C
ZIP_MAGIC = b"PK\x03\x04"
LEGACY_MAGIC = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def read_pth(path: Path, key: str | None = None, allowed: frozenset[str] = frozenset()) -> Checkpoint:
    file = SourceFile(path)
    value, spans = read_value(file, allowed)
    found = find_parameters(path, value, key)
    entries = _entries(file, found, spans)
    used = {tensor.storage.key for tensor in found.tensors.values() if isinstance(tensor, TensorRef)}
    checks = tuple(spans[name] for name in sorted(used) if spans[name].crc is not None)
    return Checkpoint(path, "pth", entries, (file,), checks, found.key, found.others, found.extras)


def read_value(file: SourceFile, allowed: frozenset[str]) -> tuple[Any, dict[str, Span]]:
    """What the file holds, tensors and numpy's arrays as descriptions, and where each storage's bytes are."""
    head = file.read(0, min(file.size, 512))
    if head.startswith(ZIP_MAGIC):
        return _read_zip(file, allowed)
    if head[257:262] == b"ustar":
        raise bad(file.path, "is a tar of torch 0.1; load and save it again with a newer torch")
    return _read_legacy(file, allowed)


def _read_zip(file: SourceFile, allowed: frozenset[str]) -> tuple[Any, dict[str, Span]]:
    records = zip_records(file)
    pickles = [name for name in records if name.endswith("/data.pkl") or name == "data.pkl"]
    if len(pickles) != 1:
        raise bad(file.path, f"is a zip with {len(pickles)} data.pkl in it; torch.save writes one")
    root = pickles[0].removesuffix("data.pkl")
    if f"{root}constants.pkl" in records:
        raise bad(file.path, "is a TorchScript program; save its state_dict() from torch instead")
    order = records.get(f"{root}byteorder")
    if order and file.read(order.offset, min(order.length, 16)) != b"little":
        raise bad(file.path, "was written on a big-endian machine; save it again on a little-endian one")
    span = records[pickles[0]]
    if span.length > PICKLE_BYTES:
        raise bad(file.path, f"has a pickle of {span.length} bytes; {PICKLE_BYTES} are the limit")
    data = file.read(span.offset, span.length)
    if span.crc is not None and zlib.crc32(data) != span.crc:
        raise bad(file.path, "has a data.pkl that doesn't match its checksum; the file is damaged")
    where = f"record {list(records).index(pickles[0]) + 1} ({shown(pickles[0])})"
    value, storages = Interpreter(file.path, where, allowed).load(data)
    spans = {}
    for key, storage in storages.items():
        spans[key] = _storage_span(file, records.get(f"{root}data/{key}"), storage)
    return value, spans


def _storage_span(file: SourceFile, record: Span | None, storage: Storage) -> Span:
    size = storage.numel * (DTYPES[storage.dtype].size if storage.dtype else 1)
    if record is None:
        raise bad(file.path, f"refers to a storage {shown(storage.key)} that it doesn't hold")
    if record.length != size:
        raise bad(file.path, f"has {record.length} bytes in storage {shown(storage.key)} where {size} are announced")
    return record


class _Stream:
    """The head of a legacy file, for reading pickles one after another; never more than a pickle may have."""

    def __init__(self, file: SourceFile) -> None:
        self.at, self.room = 0, min(file.size, PICKLE_BYTES)
        self.buffered = open(file.handle.fileno(), "rb", buffering=1 << 16, closefd=False)  # noqa: SIM115  the file's own
        self.buffered.seek(0)

    def read(self, size: int) -> bytes:
        if self.at + size > PICKLE_BYTES:
            raise ValueError(f"more than {PICKLE_BYTES} bytes")
        data = self.buffered.read(max(0, min(size, self.room - self.at)))
        self.at += len(data)
        return data

    def readline(self) -> bytes:
        line = self.buffered.readline(max(0, min(1 << 16, self.room - self.at)))
        self.at += len(line)
        return line

    def tell(self) -> int:
        return self.at


def _read_legacy(file: SourceFile, allowed: frozenset[str]) -> tuple[Any, dict[str, Span]]:
    """Five pickles (magic, protocol, system, value, storage keys), then each storage's length and bytes."""
    stream = _Stream(file)
    values, storages = [], {}
    for number in range(1, 6):
        value, found = Interpreter(file.path, f"record {number}", allowed).load(stream)
        values.append(value)
        storages.update(found)
        if number == 1 and value != MAGIC:
            raise bad(file.path, "is a pickle, but not one that torch.save wrote; save it again with torch.save")
    system, keys = values[2], values[4]
    if isinstance(system, dict) and system.get("little_endian") is False:
        raise bad(file.path, "was written on a big-endian machine; save it again on a little-endian one")
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or len(set(keys)) != len(keys):
        raise bad(file.path, "has no list of its storages in record 5")
    spans, at = {}, stream.at
    for key in keys:
        if key not in storages:
            raise bad(file.path, f"holds a storage {shown(key)} that no tensor refers to")
        numel = int.from_bytes(file.read(at, 8), "little", signed=True)
        storage = storages[key]
        size = numel * (DTYPES[storage.dtype].size if storage.dtype else 1)
        if numel < 0 or at + 8 + size > file.size:
            raise bad(file.path, f"announces {numel} elements in storage {shown(key)}, beyond its end")
        spans[key] = _storage_span(file, Span(file, at + 8, size), storage)
        at += 8 + size
    for key, storage in storages.items():
        spans[key] = _storage_span(file, spans.get(key), storage)
    return values[3], spans


def _entries(file: SourceFile, found: Found, spans: Mapping[str, Span]) -> tuple[Entry, ...]:
    entries, total = [], 0
    for name, tensor in found.tensors.items():
        check_name(file.path, name)
        entry = entry_of(file, name, tensor, spans)
        total += entry.nbytes
        check_expansion(file.path, file.size, total)
        entries.append(entry)
    return tuple(entries)


def entry_of(file: SourceFile, name: str, tensor: TensorRef | NumpyArray, spans: Mapping[str, Span]) -> Entry:
    """Where the tensor's values are."""
    if isinstance(tensor, TensorRef):
        return _tensor_entry(file, name, tensor, spans[tensor.storage.key])
    if not tensor.dtype:
        raise bad(file.path, f"begins an array {shown(name)} and never fills it; save the file again")
    return _numpy_entry(name, tensor)


def _tensor_entry(file: SourceFile, name: str, tensor: TensorRef, span: Span) -> Entry:
    size = DTYPES[tensor.dtype].size
    count = math.prod(tensor.shape)
    last = sum((length - 1) * step for length, step in zip(tensor.shape, tensor.stride, strict=True)) if count else -1
    if (tensor.offset + last + 1) * size > span.length:
        raise bad(file.path, f"{shown(name)} reaches beyond its storage (offset {tensor.offset}, shape {tensor.shape})")
    check_expansion(file.path, file.size, count * size)
    if _is_contiguous(tensor) and not (tensor.is_conjugate or tensor.is_negative):
        part = Span(file, span.offset + tensor.offset * size, count * size)
        return Entry(name, tensor.dtype, tensor.shape, (part,) if count else ())
    return Entry(name, tensor.dtype, tensor.shape, pieces=lambda: pieces(tensor, span))


def _is_contiguous(tensor: TensorRef) -> bool:
    step = 1
    for length, stride in zip(reversed(tensor.shape), reversed(tensor.stride), strict=True):
        if length > 1 and stride != step:
            return 0 in tensor.shape
        step *= length
    return True


def _numpy_entry(name: str, array: NumpyArray) -> Entry:
    def compute() -> Any:
        import numpy as np

        order = "F" if array.is_fortran else "C"
        return np.frombuffer(array.data, DTYPES[array.dtype].numpy).reshape(array.shape, order=order)  # type: ignore[call-overload]

    return Entry(name, array.dtype, array.shape, compute=compute)
