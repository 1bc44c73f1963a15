"""How much a file may ask for before it is refused, and how its text is shown without trusting it."""

from __future__ import annotations

from pathlib import Path

from ...errors import MindferryError

HEADER_BYTES = (
    32 << 20
)  # of JSON or of a zip's directory: read whole, and a list of empty lists takes twenty times its text
PICKLE_BYTES = 64 << 20
OPERATIONS = 3_000_000
ARGUMENTS = 64  # that a call in a pickle may have: a tuple that is given a million times is unpacked a million times
ENTRIES = 250_000
DEPTH = 64
RANK = 32  # numpy's
NAME = 4096
EXPANSION = 16  # times the file's size that its tensors may come to, views of one storage included
FREE = 64 << 20  # bytes that any file may expand to

MAX_SIZE = 1 << 62


class BadFileError(MindferryError):
    """The file is broken or hostile; the message says where. Nothing in it was run."""


def bad(path: Path, reason: str) -> BadFileError:
    return BadFileError(f"{path}: {reason}")


def shown(value: object) -> str:
    """Something from a file, short and printable, for a message of one line. What it describes is never spelled out."""
    plain = "".join(char if char.isprintable() else "?" for char in _brief(value)[:100])
    return plain if len(plain) < 100 else f"{plain[:97]}..."


def _brief(value: object, depth: int = 0) -> str:
    if isinstance(value, str):
        return value[:100]
    if isinstance(value, bool | float | None):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if value.bit_length() < 200 else f"a number of {value.bit_length()} bits"
    if isinstance(value, bytes | bytearray):
        return repr(bytes(value[:50]))
    if isinstance(value, BaseException):
        return _brief(value.args[0], depth + 1) if type(value) is KeyError and value.args else str(value)[:100]
    if isinstance(value, list | tuple) and type(value) in (list, tuple) and depth < 2:
        inner = ", ".join(_brief(each, depth + 1) for each in value[:8])
        return f"({inner}{', ...' if len(value) > 8 else ''})"
    return str(value)[:100] if type(value).__str__ is not object.__str__ and depth < 2 else type(value).__name__


def check_name(path: Path, name: object) -> str:
    if not isinstance(name, str) or not name or len(name) > NAME:
        raise bad(path, f"a tensor is named {shown(name)!r}, which is no name; the file is broken or hostile")
    if not name.isprintable() or name.startswith("/") or ".." in name.replace("\\", "/").split("/"):
        raise bad(path, f"the name {shown(name)!r} is refused: control characters and paths don't name tensors")
    return name


def check_shape(path: Path, name: str, shape: object) -> tuple[int, ...]:
    """Non-negative plain integers whose product fits a file."""
    if not isinstance(shape, list | tuple) or len(shape) > RANK:
        raise bad(path, f"{shown(name)} has no valid shape ({shown(shape)})")
    count = 1
    for size in shape:
        if type(size) is not int or not 0 <= size < MAX_SIZE:
            raise bad(path, f"{shown(name)} has the size {shown(size)} in its shape")
        count *= size
        if count >= MAX_SIZE:
            raise bad(path, f"{shown(name)} has a shape too large for any file ({shown(shape)})")
    return tuple(shape)


def check_expansion(path: Path, file_size: int, total: int) -> None:
    if total > max(EXPANSION * file_size, FREE):
        raise bad(path, f"its tensors come to {total} bytes from a file of {file_size}; refused as a bomb")
