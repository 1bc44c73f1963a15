"""How much a file may ask for before it is refused, and how its text is shown without trusting it."""

from __future__ import annotations

from pathlib import Path

from ...errors import MindferryError

HEADER_BYTES = 100_000_000  # safetensors' own limit
PICKLE_BYTES = 64 << 20
OPERATIONS = 5_000_000
ENTRIES = 1_000_000
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


def shown(text: object) -> str:
    """Text from a file, short and printable, for a message of one line."""
    plain = "".join(char if char.isprintable() else "?" for char in str(text)[:100])
    return plain if len(plain) < 100 else f"{plain[:97]}..."


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
