"""Where golden files lie between the two workers: in memory where there is plenty, since writing them to a disk costs as much as a run."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .goldenfile import IN_MEMORY, MOST_IN_MEMORY

SHARED = Path("/dev/shm")
PLENTY = (
    8 * MOST_IN_MEMORY
)  # bytes that have to be free: several files lie there at once, and both networks beside them


@contextlib.contextmanager
def golden_folder() -> Iterator[Path]:
    """A folder that is gone afterwards, with what outgrew it."""
    with tempfile.TemporaryDirectory(prefix=IN_MEMORY, dir=SHARED if _has_plenty() else None) as name:
        folder = Path(name)
        try:
            yield folder
        finally:
            for each in folder.iterdir():
                if each.is_symlink():
                    each.readlink().unlink(missing_ok=True)


def _has_plenty() -> bool:
    """Of the file system in memory, of the machine, and of what a container may use."""
    try:
        is_roomy = shutil.disk_usage(SHARED).free >= PLENTY and _available() >= PLENTY
    except (OSError, ValueError):  # not Linux, or a container that does not tell
        return False
    return is_roomy and _allowance() >= PLENTY


def _available() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)


def _allowance() -> float:
    """What is left of a container's limit; inf without one."""
    group = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):
        return int((group / "memory.max").read_text()) - int((group / "memory.current").read_text())
    return float("inf")
