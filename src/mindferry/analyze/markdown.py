"""The tables as Markdown, for an issue or a README."""

from __future__ import annotations

from ..artifacts import Inventory
from .sheets import sheets
from .upstream import requests


def markdown(inventory: Inventory) -> str:
    parts = [f"# {_cell(inventory.root)}: {len(inventory.files)} files, {inventory.lines} lines of Python"]
    for sheet in sheets(inventory):
        parts += [f"\n## {sheet.title}\n", f"{_cell(sheet.summary)}.\n"]
        if sheet.title == "Requests upstream":
            parts += [f"### {_cell(title)}\n\n````text\n{text}\n````\n" for title, text in requests(inventory)]
        elif sheet.rows:
            parts.append("| " + " | ".join(sheet.columns) + " |")
            parts.append("| " + " | ".join("---" for _ in sheet.columns) + " |")
            parts += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in sheet.rows]
    return "\n".join(parts) + "\n"


def _cell(text: str) -> str:
    """Text that Markdown can't take for markup."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{mark}" if mark in "\\|*_`[]" else mark for mark in text)
