"""One tensor in a file: its name, type and shape, and where its bytes are. Bytes are read when they are written."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..dtypes import DTYPES
from .limits import bad

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

CHUNK = 1 << 20
Advance = Callable[[int], None]  # told of every tensor's bytes once they are written


class SourceFile:
    """A file being read by position, so that its pages never count as this process's memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.handle = open(path, "rb", buffering=0, opener=_without_waiting)  # noqa: SIM115  it lives as long as the entries
            status = os.fstat(self.handle.fileno())
        except OSError as error:
            raise bad(path, f"cannot be read ({error.strerror}); check the path") from None
        self.size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            self.handle.close()
            raise bad(path, "is no regular file")

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes; a file that ends before is refused."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise bad(self.path, f"is cut short: bytes {offset} to {offset + length} are beyond its {self.size}")
        pieces = []
        while length:
            piece = os.pread(self.handle.fileno(), min(length, 1 << 30), offset)
            if not piece:
                raise bad(self.path, "shrank while it was being read")
            pieces.append(piece)
            offset, length = offset + len(piece), length - len(piece)
        return b"".join(pieces) if len(pieces) != 1 else pieces[0]

    def close(self) -> None:
        self.handle.close()


def _without_waiting(path: str, flags: int) -> int:
    """A pipe that nobody writes to would be waited for."""
    return os.open(path, flags | os.O_NONBLOCK)


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive bytes of a file, and their checksum where the file keeps one."""

    file: SourceFile
    offset: int
    length: int
    crc: int | None = None

    def chunks(self, buffer: bytearray) -> Iterator[memoryview]:
        """The bytes, a buffer at a time."""
        view, fd, at, end = memoryview(buffer), self.file.handle.fileno(), self.offset, self.offset + self.length
        while at < end:
            got = os.preadv(fd, [view[: min(len(buffer), end - at)]], at)
            if not got:
                raise bad(self.file.path, "is cut short, or shrank while it was being read")
            at += got
            yield view[:got]

    def check(self, buffer: bytearray) -> None:
        crc = 0
        for chunk in self.chunks(buffer):
            crc = zlib.crc32(chunk, crc)
        if crc != self.crc:
            end = self.offset + self.length
            raise bad(self.file.path, f"bytes {self.offset} to {end} don't match their checksum; the file is damaged")


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    dtype: str  # a key of DTYPES
    shape: tuple[int, ...]
    spans: tuple[Span, ...] = ()
    compute: Callable[[], Array] | None = None  # in place of spans, where values change
    pieces: Callable[[], Iterator[Array]] | None = None  # in place of spans, where they lie scattered

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * DTYPES[self.dtype].size

    def chunks(self, buffer: bytearray) -> Iterator[memoryview]:
        if self.compute is None and self.pieces is None:
            for span in self.spans:
                yield from span.chunks(buffer)
            return
        import numpy as np

        made = 0
        for piece in self.pieces() if self.pieces is not None else (self.array(),):
            flat = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
            made += len(flat)
            for start in range(0, len(flat), len(buffer)):
                yield flat[start : start + len(buffer)].data
        if made != self.nbytes:
            raise bad(Path(self.name), f"came to {made} bytes where {self.nbytes} were announced")

    def array(self) -> Array:
        """The values as numpy; a type that numpy lacks comes as unsigned integers of its size."""
        import numpy as np

        if self.compute is not None:
            return self.compute()
        known = DTYPES[self.dtype]
        if self.pieces is not None:
            whole = np.empty(math.prod(self.shape), known.numpy or f"<u{known.size}")
            start = 0
            for piece in self.pieces():
                whole[start : start + piece.size] = piece.reshape(-1)
                start += piece.size
            return whole.reshape(self.shape)
        raw = bytearray(self.nbytes)
        at, buffer = 0, bytearray(CHUNK)
        for chunk in self.chunks(buffer):
            raw[at : at + len(chunk)] = chunk
            at += len(chunk)
        return np.frombuffer(raw, known.numpy or f"<u{known.size}").reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An opened file. `checks` are the parts of which it keeps a checksum."""

    path: Path
    format: str
    entries: tuple[Entry, ...]
    files: tuple[SourceFile, ...]
    checks: tuple[Span, ...] = ()
    key: str = ""
    others: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()  # values among the tensors that are none
    metadata: dict[str, str] = field(default_factory=dict)

    def verify(self) -> None:
        """Read everything that has a checksum, and compare."""
        buffer = bytearray(CHUNK)
        for span in self.checks:
            span.check(buffer)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.files:
            file.close()


@contextlib.contextmanager
def sized(path: Path, size: int) -> Iterator[BinaryIO]:
    """A file to write `size` bytes to. Its space is taken first: that is faster, and a full disk is told at once."""
    with open(path, "wb") as out:
        try:
            os.posix_fallocate(out.fileno(), 0, max(1, size))
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
        yield out
        out.truncate()


def silent(_: int) -> None:
    """Progress that nobody watches."""


def write_chunks(out: BinaryIO, entry: Entry, buffer: bytearray, advance: Advance) -> None:
    for chunk in entry.chunks(buffer):
        out.write(chunk)
    advance(entry.nbytes)
