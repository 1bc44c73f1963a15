"""MindSpore's .ckpt: protobuf records of tag, dims, type and bytes, end to end. Read and written without protobuf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import MindferryError
from ..dtypes import BY_CKPT, DTYPES
from .entry import CHUNK, Advance, Checkpoint, Entry, SourceFile, Span, silent, sized
from .limits import ENTRIES, NAME, RANK, bad, check_name, check_shape, shown

SLICE = 512 << 20  # MindSpore cuts larger tensors into records of this size with the same tag
LONGEST = 1024  # letters of a parameter's name in MindSpore
TRAILER = b"crc_num"
STRUCTURE = "__structure__"  # the record in which the helpers' save() keeps as JSON whatever is no tensor
# Field number and wire type, as protobuf packs them: 1 and 2 and 3 as bytes, dims as numbers.
FIRST, SECOND, THIRD, DIM = 0x0A, 0x12, 0x1A, 0x08


def read_ckpt(path: Path) -> Checkpoint:
    file = SourceFile(path)
    end, checks = _trailer(file)
    entries: dict[str, Entry] = {}
    slices: dict[str, list[Span]] = {}
    extras, last, at = [], "", 0
    while at < end:
        record, at = _record(file, at, end)
        if record.dtype == "str":
            extras.append(record.name)
        elif record.name not in entries:
            entries[record.name] = record
            slices[record.name] = list(record.spans)
        elif record.name != last or (record.dtype, record.shape) != (entries[last].dtype, entries[last].shape):
            raise bad(path, f"holds {shown(record.name)} twice; the file is broken")
        else:
            slices[last] += [span for span in record.spans if span.length]
        last = record.name
        if len(entries) > ENTRIES:
            raise bad(path, f"holds more than {ENTRIES} tensors")
    whole = tuple(replace(entry, spans=tuple(slices[name])) for name, entry in entries.items())
    for entry in whole:
        if (size := sum(span.length for span in entry.spans)) != entry.nbytes:
            raise bad(path, f"{shown(entry.name)} has {size} bytes where its shape needs {entry.nbytes}")
    return Checkpoint(path, "ckpt", whole, (file,), checks, extras=tuple(extras))


def _trailer(file: SourceFile) -> tuple[int, tuple[Span, ...]]:
    """Where the records end, and the checksum over them if the file was saved with crc_check."""
    tail = file.read(max(0, file.size - 17), min(17, file.size))
    if len(tail) == 17 and tail.startswith(TRAILER):
        return file.size - 17, (Span(file, 0, file.size - 17, int.from_bytes(tail[7:], "big")),)
    return file.size, ()


def _record(file: SourceFile, at: int, end: int) -> tuple[Entry, int]:
    """One `Value` and the position behind it. Only the few bytes around the content are read."""
    head = _Cursor(file, at, end)
    stop = head.enter(FIRST, "a record", end)
    name = head.text(FIRST, stop, NAME)
    inner = head.enter(SECOND, f"the tensor of {shown(name)}", stop)
    shape = []
    while head.peek(inner) == DIM:
        head.byte(inner)
        shape.append(head.number(inner))
        if len(shape) > RANK:
            raise bad(file.path, f"{shown(name)} has more than {RANK} dimensions")
    kind = head.text(SECOND, inner, 32)
    content = head.enter(THIRD, f"the bytes of {shown(name)}", inner)
    if content != inner or inner != stop:
        raise bad(file.path, f"has a record of unknown form at byte {at}; encrypted, or no MindSpore checkpoint")
    span = Span(file, head.at, content - head.at)
    if kind == "str":
        return Entry(check_name(file.path, name), "str", ()), stop
    if kind not in BY_CKPT:
        raise bad(file.path, f"{shown(name)} has the type {shown(kind)}, which MindSpore itself doesn't load")
    return Entry(check_name(file.path, name), BY_CKPT[kind], check_shape(file.path, name, shape), (span,)), stop


class _Cursor:
    """Reads protobuf's numbers and lengths at a position, a small window at a time."""

    WINDOW = 512

    def __init__(self, file: SourceFile, at: int, end: int) -> None:
        self.file, self.at, self.end = file, at, end
        self.start, self.window = at, b""

    def peek(self, stop: int) -> int:
        if self.at >= stop:
            raise bad(self.file.path, f"is cut short at byte {self.at}, or no MindSpore checkpoint")
        if not self.start <= self.at < self.start + len(self.window):
            self.start, self.window = self.at, self.file.read(self.at, min(self.WINDOW, self.end - self.at))
        return self.window[self.at - self.start]

    def byte(self, stop: int) -> int:
        value = self.peek(stop)
        self.at += 1
        return value

    def number(self, stop: int) -> int:
        value = shift = 0
        while shift < 64:
            byte = self.byte(stop)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        raise bad(self.file.path, f"has a number without end at byte {self.at}; no MindSpore checkpoint")

    def enter(self, field: int, what: str, stop: int) -> int:
        """Step over a field's head; return where the field ends."""
        if self.byte(stop) != field:
            raise bad(self.file.path, f"lacks {what} at byte {self.at - 1}; encrypted, or no MindSpore checkpoint")
        length = self.number(stop)
        if self.at + length > stop:
            raise bad(self.file.path, f"announces {length} bytes for {what} at byte {self.at}, beyond its end")
        return self.at + length

    def text(self, field: int, stop: int, limit: int) -> str:
        end = self.enter(field, "text", stop)
        if end - self.at > limit:
            raise bad(self.file.path, f"has a text of {end - self.at} bytes at byte {self.at}, longer than any name")
        raw, self.at = self.file.read(self.at, end - self.at), end
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise bad(self.file.path, f"has a name that is no text at byte {self.at}") from None


def write_ckpt(out_path: Path, entries: Sequence[Entry], advance: Advance = silent) -> None:
    buffer = bytearray(CHUNK)
    size = sum(len(head) + content for entry in entries for head, content in _heads(entry))
    with sized(out_path, size) as out:
        for entry in entries:
            room = 0
            heads = _heads(entry)
            for chunk in entry.chunks(buffer):
                while len(chunk):
                    if not room:
                        head, room = next(heads)
                        out.write(head)
                    out.write(chunk[:room])
                    chunk, room = chunk[room:], max(0, room - len(chunk))
            for head, _ in heads:  # an empty tensor has a head and no bytes
                out.write(head)
            advance(entry.nbytes)


def _heads(entry: Entry) -> Iterator[tuple[bytes, int]]:
    """What goes before each slice of the tensor, and how many bytes the slice has."""
    tag, kind = entry.name.encode(), DTYPES[entry.dtype].ckpt.encode()
    dims = b"".join(b"\x08" + _varint(size) for size in entry.shape)
    for start in range(0, max(1, entry.nbytes), SLICE):
        size = min(SLICE, entry.nbytes - start)
        tensor = dims + b"\x12" + _varint(len(kind)) + kind + b"\x1a" + _varint(size)
        value = b"\x0a" + _varint(len(tag)) + tag + b"\x12" + _varint(len(tensor) + size) + tensor
        yield b"\x0a" + _varint(len(value) + size) + value, size


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def check_ckpt(entry: Entry) -> None:
    if len(entry.name) > LONGEST:
        raise MindferryError(
            f"{shown(entry.name)} has a name of {len(entry.name)} letters, and MindSpore loads {LONGEST} from a .ckpt; write .safetensors instead"
        )
    if entry.name == STRUCTURE:
        raise MindferryError(
            f"{STRUCTURE} is no name for a tensor in a .ckpt: a converted project would take it for other values; rename it"
        )
    if not DTYPES[entry.dtype].ckpt:
        raise MindferryError(
            f"{entry.name} is {entry.dtype}, which MindSpore can't load from a .ckpt; write .safetensors instead"
        )
