"""What installed distributions say of themselves, read without trusting it: no pipe is waited for, and no byte is too odd."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from importlib import metadata
from os import PathLike
from pathlib import Path

from ..foreign import text_of

LONGEST = 4096  # letters of a file's path; csv's own limit is whatever some library has set it to


class Readable(metadata.PathDistribution):
    """A distribution whose files may be anything: one that can't be read is as good as none."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def read_text(self, filename: str | PathLike[str]) -> str | None:
        return text_of(self.folder / filename) or None


def distributions(path: list[str] | None = None, name: str | None = None) -> Iterator[metadata.Distribution]:
    """Those in these folders, or wherever Python looks; of this name, or all."""
    for each in metadata.distributions(name=name, path=sys.path if path is None else path):
        folder = getattr(each, "_path", None)
        yield Readable(folder) if isinstance(folder, Path) else each


def listed_files(distribution: metadata.Distribution) -> list[str]:
    """The files that it says are its own, relative to the folder that it is installed in."""
    try:
        found = [str(each) for each in distribution.files or ()]
    except (csv.Error, ValueError):
        return []
    return found if all(len(each) <= LONGEST for each in found) else []
