"""What MindSpore drops where a script runs goes to the logs; what the script itself wrote stays."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LITTER = re.compile(r"rank_\d+|(?:akg_|custom_)?kernel_meta|rewritten_network")
RANK_FOLDERS = {"om", "ir_dump", "verbose_ir"}  # a script may keep its own files in a rank_0/


@contextmanager
def swept(logs: Path) -> Iterator[None]:
    """Move away what appears in the working directory meanwhile and has one of MindSpore's names."""
    before = set(Path().iterdir())
    try:
        yield
    finally:
        for path in set(Path().iterdir()) - before:
            if is_litter(path):
                shutil.move(str(path), str(logs / path.name))


def is_litter(path: Path) -> bool:
    if not LITTER.fullmatch(path.name) or not path.is_dir():
        return False
    return not path.name.startswith("rank_") or {each.name for each in path.iterdir()} <= RANK_FOLDERS
