"""The tables for a terminal, readable at 80 columns: the summaries first, then the rows that fit on a page each."""

from __future__ import annotations

from io import StringIO

from ..artifacts import Inventory
from .sheets import Sheet, sheets

SHOWN = 15  # rows a table; --full shows all
ESSENTIAL = {"API satisfaction": (0, 1, 2, 4), "Special code": (0, 1, 2), "Effort": (0, 1, 2, 3)}  # columns that fit


def text(inventory: Inventory, width: int = 80, full: bool = False) -> str:
    from rich.console import Console

    console = Console(file=StringIO(), width=width, highlight=False)
    console.print(f"{inventory.root}: {len(inventory.files)} files, {inventory.lines} lines of Python\n", markup=False)
    tables = sheets(inventory)
    for sheet in tables:
        if sheet.title == "API satisfaction" and not full:
            sheet = _needing_attention(sheet)
        _print(console, sheet, full)
    output = console.file
    assert isinstance(output, StringIO)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def _needing_attention(sheet: Sheet) -> Sheet:
    """A summary shows only what differs or is missing."""
    rows = tuple(row for row in sheet.rows if row[4] or row[3] in ("missing", "unknown"))
    return Sheet(sheet.title, f"{sheet.summary}; {len(rows)} differ or need you", sheet.columns, rows)


def _print(console: object, sheet: Sheet, full: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    assert isinstance(console, Console)
    console.print(Text.assemble((sheet.title, "bold"), f": {sheet.summary}"))
    rows = sheet.rows if full else sheet.rows[:SHOWN]
    if rows:
        chosen = ESSENTIAL.get(sheet.title, tuple(range(len(sheet.columns))))
        grid = Table(*(sheet.columns[index] for index in chosen), box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in grid.columns:
            column.overflow = "fold"
        for row in rows:
            grid.add_row(*(Text(_short(row[index])) for index in chosen))
        console.print(grid)
    if len(rows) < len(sheet.rows):
        console.print(f"… and {len(sheet.rows) - len(rows)} more: --full, or -o report.html --format html")
    console.print()


def _short(name: str) -> str:
    """Long prefixes, as one would write them in code."""
    for long, short in (
        ("mindspore.dataset.vision.", "vision."),
        ("mindspore.", "ms."),
        ("torchvision.", "tv."),
        ("torch.nn.functional.", "F."),
    ):
        name = name.replace(long, short)
    return name
