"""Write what torch.load reads: a zip of one pickle and one aligned record a tensor."""

from __future__ import annotations

import math
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

from ..dtypes import DTYPES
from .entry import CHUNK, Advance, Entry, silent, write_chunks

ROOT = "archive"
ALIGNMENT = 64
EPOCH = (1980, 1, 1, 0, 0, 0)


def write_pth(out_path: Path, entries: Sequence[Entry], advance: Advance = silent) -> None:
    buffer = bytearray(CHUNK)
    with zipfile.ZipFile(out_path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(_record(f"{ROOT}/data.pkl"), _pickle(entries))
        archive.writestr(_record(f"{ROOT}/byteorder"), b"little")
        for number, entry in enumerate(entries):
            info = _record(f"{ROOT}/data/{number}")
            info.file_size = entry.nbytes
            is_wide = entry.nbytes >= zipfile.ZIP64_LIMIT
            info.extra = _padding(archive, info.filename, is_wide)
            with archive.open(info, "w", force_zip64=is_wide) as out:
                write_chunks(out, entry, buffer, advance)  # type: ignore[arg-type]
        archive.writestr(_record(f"{ROOT}/version"), b"3\n")


def _record(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, EPOCH)


def _padding(archive: zipfile.ZipFile, name: str, is_wide: bool) -> bytes:
    """An extra field, as torch writes it, that brings the data to an aligned position so that it can be mapped."""
    assert archive.fp is not None
    start = archive.fp.tell() + 30 + len(name) + (20 if is_wide else 0) + 4
    length = -start % ALIGNMENT
    return b"FB" + struct.pack("<H", length) + b"Z" * length


def _pickle(entries: Sequence[Entry]) -> bytes:
    """An OrderedDict of _rebuild_tensor_v2 calls in protocol 2, as torch.save writes a state dict."""
    out = bytearray(b"\x80\x02ccollections\nOrderedDict\n)R(")
    for number, entry in enumerate(entries):
        dtype = DTYPES[entry.dtype]
        count = math.prod(entry.shape)
        kind = f"torch\n{dtype.storage}" if dtype.storage else "torch.storage\nUntypedStorage"
        out += _text(entry.name) + f"ctorch._utils\n_rebuild_tensor_v{2 if dtype.storage else 3}\n((".encode()
        out += _text("storage") + f"c{kind}\n".encode() + _text(str(number)) + _text("cpu")
        out += _integer(count if dtype.storage else count * dtype.size) + b"tQ" + _integer(0)
        out += _tuple(entry.shape) + _tuple(_strides(entry.shape)) + b"\x89ccollections\nOrderedDict\n)R"
        out += b"" if dtype.storage else f"ctorch\n{entry.dtype}\n".encode()
        out += b"tR"
    return bytes(out + b"u.")


def _text(text: str) -> bytes:
    raw = text.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw


def _integer(value: int) -> bytes:
    if value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    return b"\x8a\x08" + struct.pack("<q", value)


def _tuple(values: Sequence[int]) -> bytes:
    return b"(" + b"".join(map(_integer, values)) + b"t"


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(max(1, size) for size in shape[axis + 1 :]) for axis in range(len(shape))]
