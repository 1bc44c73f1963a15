"""The records of a zip, read from its own directory: nothing compressed, nothing overlapping, nothing announced twice.

zipfile would read whatever directory the file announces, and can be led to another one than was checked.
"""

from __future__ import annotations

import struct

from .entry import SourceFile, Span
from .limits import ENTRIES, HEADER_BYTES, bad, check_name, shown

END, LOCATOR, WIDE_END, ENTRY, LOCAL = b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06", b"PK\x01\x02", b"PK\x03\x04"
NARROW = 0xFFFFFFFF  # stands for "see the 64-bit field"


def zip_records(file: SourceFile) -> dict[str, Span]:
    """Every record's bytes and checksum, by name."""
    start, size, count = _directory(file)
    if size > HEADER_BYTES or count > ENTRIES:
        raise bad(
            file.path, f"is a zip with a directory of {size} bytes and {count} records; that is more than any model has"
        )
    data = file.read(start, size)
    records: dict[str, Span] = {}
    at = 0
    while at < len(data):
        name, span, at = _entry(file, data, at)
        if name in records:
            raise bad(file.path, f"has the record {shown(name)} twice")
        records[name] = span
    if len(records) != count:
        raise bad(file.path, f"is a damaged zip: it announces {count} records and lists {len(records)}")
    end = 0
    for span in sorted(records.values(), key=lambda span: span.offset):
        if span.offset < end or span.offset + span.length > start:
            raise bad(file.path, f"has records that overlap or leave the file at byte {span.offset}")
        end = span.offset + span.length
    return records


def _directory(file: SourceFile) -> tuple[int, int, int]:
    """(offset, size, number of records) of the one directory, which ends where its end record begins."""
    low = max(0, file.size - 65557)
    tail = file.read(low, file.size - low)
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < 22:
        raise bad(file.path, "is a zip without its directory; it is cut short")
    if int.from_bytes(tail[at + 20 : at + 22], "little") != len(tail) - at - 22:
        raise bad(file.path, "is a damaged zip: something follows its directory")
    count, size, start = (int(part) for part in struct.unpack("<HII", tail[at + 10 : at + 20]))
    end = low + at
    if end >= 20 and (locator := file.read(end - 20, 20)).startswith(LOCATOR):
        end = int.from_bytes(locator[8:16], "little")
        wide = file.read(end, 56)
        if not wide.startswith(WIDE_END) or end + 12 + int.from_bytes(wide[4:12], "little") != low + at - 20:
            raise bad(file.path, "is a damaged zip: its 64-bit directory is not where it says")
        count, size, start = (int(part) for part in struct.unpack("<QQQ", wide[32:56]))
    if start + size != end:
        raise bad(file.path, f"is a damaged zip: its directory of {size} bytes does not lie at byte {start}")
    return start, size, count


def _entry(file: SourceFile, data: bytes, at: int) -> tuple[str, Span, int]:
    """One line of the directory: the record's name, its bytes, and where the next line begins."""
    if len(data) - at < 46 or data[at : at + 4] != ENTRY:
        raise bad(file.path, f"is a damaged zip: its directory breaks off at byte {at}")
    flags, method = struct.unpack("<HH", data[at + 8 : at + 12])
    crc, packed, size, name_size, extra_size, note_size = struct.unpack("<IIIHHH", data[at + 16 : at + 34])
    header = int.from_bytes(data[at + 42 : at + 46], "little")
    raw = data[at + 46 : at + 46 + name_size]
    try:
        name = check_name(file.path, raw.decode("utf-8" if flags & 0x800 else "cp437"))
    except UnicodeDecodeError:
        raise bad(
            file.path, f"is a damaged zip: the name of a record is no text at byte {at} of its directory"
        ) from None
    extra = data[at + 46 + name_size : at + 46 + name_size + extra_size]
    size, packed, header = _wide(file, extra, (size, packed, header))
    if flags & 1 or method or packed != size:
        raise bad(file.path, f"has the record {shown(name)} compressed or encrypted; torch.save stores it plainly")
    span = Span(file, _data_offset(file, header, name, raw), size, crc)
    return name, span, at + 46 + name_size + extra_size + note_size


def _wide(file: SourceFile, extra: bytes, values: tuple[int, int, int]) -> tuple[int, int, int]:
    """64-bit sizes and offset from the extra field, for those that 32 bits don't hold."""
    if NARROW not in values:
        return values
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack("<HH", extra[at : at + 4])
        body = extra[at + 4 : at + 4 + length]
        if kind == 1:
            numbers = iter(struct.unpack(f"<{len(body) // 8}Q", body[: len(body) // 8 * 8]))
            size, packed, header = (next(numbers, -1) if value == NARROW else value for value in values)
            if min(size, packed, header) >= 0:
                return size, packed, header
            break
        at += 4 + length
    raise bad(file.path, "is a damaged zip: a record lacks its 64-bit size")


def _data_offset(file: SourceFile, header: int, name: str, raw: bytes) -> int:
    head = file.read(header, 30 + len(raw))
    if not head.startswith(LOCAL):
        raise bad(file.path, f"has no record at byte {header}, where {shown(name)} should be")
    name_length, extra_length = struct.unpack("<HH", head[26:30])
    if name_length != len(raw) or head[30:] != raw:
        raise bad(file.path, f"calls the record {shown(name)} by another name in its own header")
    return header + 30 + int(name_length) + int(extra_length)
