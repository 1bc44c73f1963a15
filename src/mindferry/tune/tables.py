"""Reads a CSV table of a profiler: rows as dictionaries, columns checked by name."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from ..errors import MindferryError


def read_table(path: Path, needed: tuple[str, ...]) -> list[dict[str, str]]:
    """Every row; none if there is no such file. A table without a needed column is of another version."""
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.DictReader(file)
            columns = [name.strip() for name in rows.fieldnames or ()]
            missing = [name for name in needed if name not in columns]
            if missing:
                raise MindferryError(
                    f"{path} has no column {missing[0]!r}: another version wrote it; record it with MindSpore 2.5 to 2.10"
                )
            return [
                {(key or "").strip(): (value or "").strip() for key, value in row.items() if isinstance(key, str)}
                for row in rows
            ]
    except (OSError, csv.Error) as error:
        raise MindferryError(f"cannot read {path}: {error}; copy the profile again") from None


def number(text: str) -> float:
    """A cell as a number; nan for N/A and the like."""
    try:
        return float(text.strip().strip("\t"))
    except ValueError:
        return math.nan if text.strip() else 0.0
