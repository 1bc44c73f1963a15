"""The user's cache folder: what was made of a library's module once is not made again for the next project."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from ..errors import MindferryError
from ..files import write_bytes

VARIABLE = "MINDFERRY_CACHE"


def cache_folder() -> Path:
    """$MINDFERRY_CACHE, or mindferry/ in the user's cache folder; a temporary one where that can't be written."""
    named = os.environ.get(VARIABLE)
    base = Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mindferry"
    with contextlib.suppress(OSError):
        base.mkdir(parents=True, exist_ok=True)
        if os.access(base, os.W_OK):
            return base
    fallback = Path(tempfile.gettempdir()) / f"mindferry-{os.getuid()}"
    try:
        fallback.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise MindferryError(f"no folder for the cache can be written ({error.strerror}); set {VARIABLE}") from None
    return fallback


def kept_text(kind: str, data: bytes, suffix: str) -> Path:
    """A file of the cache with just this content."""
    name = hashlib.sha256(data).hexdigest()
    path = cache_folder() / kind / name[:2] / f"{name}{suffix}"
    try:
        if path.read_bytes() == data:
            return path
    except OSError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, data)
    return path
