"""What a worker may leave behind: processes in sessions of their own, and scratch folders of runs that were killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

from ..files import is_running

MARK = "MINDFERRY_WORKER"  # in the environment of a worker and of all that it starts, also in sessions of their own
PREFIX = "mindferry-"
_SCRATCH = re.compile(rf"{PREFIX}(\d+)-\w+")


def new_scratch() -> Path:
    """A folder that goes with its worker; the process's number in its name tells a later run when that was killed."""
    remove_abandoned_scratch()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def remove_abandoned_scratch() -> None:
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            found = _SCRATCH.fullmatch(entry.name)
            if not found or is_running(int(found.group(1))) or not entry.is_dir(follow_symlinks=False):
                continue
            if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                shutil.rmtree(entry.path, ignore_errors=True)


def end_marked(mark: str) -> None:
    """End every process of a worker, this one excepted. Where there is no /proc, its session alone is ended."""
    wanted = f"{MARK}={mark}".encode()
    with contextlib.suppress(OSError):
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)
