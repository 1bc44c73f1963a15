"""Whole files or none: everything is written under a temporary name and renamed when it is complete."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from .errors import MindferryError

SUFFIX = ".part"
_PARTIAL = re.compile(r"\..*\.(\d+)-\w+\.part", re.DOTALL)
_PART_BYTES, _PATH_BYTES = 255, 4096  # what Linux takes
_SECONDS_UNTIL_LOCKED = 60.0  # far more than lies between making a partial file and locking it
_NAME_BYTES = 80  # of the file's own name in that of its partial: 255 is the limit for a name


@contextlib.contextmanager
def complete_or_absent(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it there on success, remove it on failure.

    The partial file's name holds this process's number, and it stays locked while it is being written: that tells
    `remove_abandoned` which ones a killed process left behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        start = os.fsdecode(os.fsencode(path.name)[:_NAME_BYTES])
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{start}.{os.getpid()}-", suffix=SUFFIX)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    partial = Path(name)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield partial
        partial.chmod(0o666 & ~_umask())
        os.replace(partial, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from error
        raise
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError | ValueError) -> MindferryError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return MindferryError(f"cannot write {path}: {reason}; choose another place with -o")


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise MindferryError(
            f"cannot remove {path}: {error.strerror}; remove it, or choose another place with -o"
        ) from error


def remove_abandoned(folder: Path) -> None:
    """Remove the partial files in a folder whose process has ended."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _PARTIAL.fullmatch(entry.name)
            if found and entry.is_file(follow_symlinks=False) and _is_abandoned(entry, int(found.group(1))):
                _remove_unlocked(entry.path)


def _is_abandoned(entry: os.DirEntry[str], writer: int) -> bool:
    """By the number of its writer, or by its age: in containers the next process has the same number."""
    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
    return age > _SECONDS_UNTIL_LOCKED or not is_running(writer)


def _remove_unlocked(path: str) -> None:
    """Unless another container on this machine, whose processes have other numbers, is writing it."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
        finally:
            os.close(handle)


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def alone_in(folder: Path, what: str) -> Iterator[None]:
    """Hold a folder's lock, so that two runs don't write there at once. It ends with the process, however that ends."""
    path = folder / "lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MindferryError(f"another mindferry is writing to {what}; wait until it is done") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(handle)


def is_inside(relative: str) -> bool:
    """Whether a recorded path names a file under the folder that it is relative to, by its words alone."""
    path = PurePosixPath(relative)
    is_relative = bool(path.parts) and not path.is_absolute() and ".." not in path.parts
    return is_relative and is_name(relative)


def is_name(path: str) -> bool:
    """Whether a file system takes a path: asking it about one that it doesn't take is an error of its own."""
    try:
        raw = os.fsencode(path)
    except UnicodeError:
        return False
    return b"\0" not in raw and len(raw) < _PATH_BYTES and all(len(part) <= _PART_BYTES for part in raw.split(b"/"))


def place_in(folder: Path, relative: str) -> Path:
    """Where a recorded path lies. One that leaves the folder is refused, and so is one that a link leads elsewhere."""
    if not is_inside(relative):
        raise MindferryError(
            f"{relative!r} is no path inside {folder}; the record there is damaged or forged: remove it"
        )
    here = folder
    for part in PurePosixPath(relative).parts[:-1]:
        here = here / part
        if here.is_symlink():
            raise MindferryError(f"{here} is a link, and nothing is written through links; remove it and run again")
    return folder / relative


def read_regular(path: Path, limit: int | None = None) -> bytes:
    """A file's bytes. Never waits: what became a pipe or a device since it was found is an OSError, as is a larger file."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if limit is not None and status.st_size > limit:
            raise OSError(errno.EFBIG, f"it is larger than {limit >> 20} MB", str(path))
        return file.read()


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def write_bytes(path: Path, data: bytes) -> None:
    with complete_or_absent(path) as partial:
        partial.write_bytes(data)


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current
