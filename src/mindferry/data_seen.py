"""What a project's text tells of its data, before anything is run: whether it has loaders, and whether samples are drawn."""

from __future__ import annotations

import re
from pathlib import Path

from .layout import find_files

LOADERS = (
    rb"DataLoader|\b(?:tf|tensorflow)\.data\b|PyDataset|utils\.Sequence|dataset_from_directory"  # torch's, and Keras'
)


def code_of(project: Path) -> bytes:
    files = [file.path for file in find_files(project, ()).files if file.is_code]
    return b"\n".join(path.read_bytes() for path in files if path.is_file())


def has_loader(project: Path) -> bool:
    return re.search(LOADERS, code_of(project)) is not None


def looks_drawn(text: bytes) -> bool:
    """Whether samples may be drawn at random in each run: then they can't be compared by value."""
    drawn = rb"\b(?:torch|np\.random|numpy\.random|random|rng|generator)\.(?:rand\w*|normal|uniform|choice|sample|integers)\("
    return re.search(drawn, text) is not None
