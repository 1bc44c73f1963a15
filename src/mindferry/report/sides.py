"""Side-by-side lines of every converted file, with the findings that belong to them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from ..artifacts import ProjectConversion

CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Row:
    kind: str  # same, changed, gap
    left_number: int
    left: str
    right_number: int
    right: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sides:
    path: str
    status: str
    rewrites: int
    rows: tuple[Row, ...]


def file_sides(conversion: ProjectConversion) -> list[Sides]:
    root, output = Path(conversion.source), Path(conversion.output)
    root = root if root.is_dir() else root.parent
    result = []
    for file in conversion.files:
        before = _lines(root / file.path) if file.status != "helpers" else []
        after = _lines(output / file.path)
        if file.status in ("converted", "kept", "failed", "helpers"):
            notes = {finding.line: f"{finding.code} {finding.message}" for finding in file.findings if finding.severity != "note"}
            result.append(Sides(file.path, file.status, len(file.rewrites), tuple(_rows(before, after, notes))))
    return result


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _rows(before: list[str], after: list[str], notes: dict[int, str]) -> list[Row]:
    rows: list[Row] = []
    end = 0
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT):
        if group[0][1] > end:
            rows.append(Row("gap", 0, "⋯", 0, "⋯"))
        for tag, i1, i2, j1, j2 in group:
            for offset in range(max(i2 - i1, j2 - j1)):
                i, j = i1 + offset, j1 + offset
                left, right = (before[i] if i < i2 else ""), (after[j] if j < j2 else "")
                kind = "same" if tag == "equal" else "changed"
                rows.append(Row(kind, i + 1 if i < i2 else 0, left, j + 1 if j < j2 else 0, right, notes.get(i + 1, "") if i < i2 else ""))
        end = group[-1][2]
    return rows
