"""Whole files or none: everything is written under a temporary name and renamed when it is complete."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import MindferryError


@contextlib.contextmanager
def complete_or_absent(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it there on success, remove it on failure."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part")
    except OSError as error:
        raise MindferryError(f"cannot write {path}: {error.strerror}; choose another place with -o") from error
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o666 & ~_umask())
        os.replace(partial, path)
    except OSError as error:
        raise MindferryError(f"cannot write {path}: {error.strerror}; choose another place with -o") from error
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def write_bytes(path: Path, data: bytes) -> None:
    with complete_or_absent(path) as partial:
        partial.write_bytes(data)


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current
