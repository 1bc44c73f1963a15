"""The tables for a terminal, readable at 80 columns: the rows that fit on a page each, and last what to do next."""

from __future__ import annotations

import shutil
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from ..apis import framework
from ..artifacts import Inventory
from .sheets import Sheet, sheets

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 15  # rows a table; --full shows all
ESSENTIAL = {  # columns that fit
    "API satisfaction": (0, 1, 2, 4),
    "Special code": (0, 1, 2),
    "Effort": (0, 1, 2, 3),
    "Requests upstream": (0,),
}
LEFT = ("missing", "unknown")


def text(inventory: Inventory, full: bool = False) -> str:
    """Without colours or lines, for files and pipes."""
    from rich.console import Console

    output = StringIO()
    show(Console(file=output, width=shutil.get_terminal_size((80, 24)).columns, highlight=False), inventory, full)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def show(console: Console, inventory: Inventory, full: bool = False) -> None:
    console.print(
        f"{inventory.root}: {len(inventory.files)} file{'' if len(inventory.files) == 1 else 's'}, {inventory.lines} lines of Python\n",
        markup=False,
    )
    for sheet in sheets(inventory):
        _print(console, _needing_attention(sheet) if sheet.title == "API satisfaction" and not full else sheet, full)
    for line in closing(inventory):
        console.print(line, markup=False, highlight=False, soft_wrap=True)  # a command to copy stays on one line


def closing(inventory: Inventory) -> tuple[str, str]:
    """What to do first, and the command that is next."""
    todo = inventory.effort.todo if inventory.effort else ()
    first = (
        f"First of {len(todo)} things to do: {todo[0].what} at {todo[0].path}:{todo[0].line}"
        if todo
        else "Nothing to do by hand"
    )
    return first, f"Next: mindferry migrate {inventory.root} -o {Path(inventory.root).resolve().stem}_ms"


def _needing_attention(sheet: Sheet) -> Sheet:
    """A summary shows only what differs or is missing."""
    rows = tuple(row for row in sheet.rows if row[4] or row[3] in LEFT)
    return Sheet(sheet.title, f"{sheet.summary}; {len(rows)} differ or need you", sheet.columns, rows)


def _print(console: Console, sheet: Sheet, full: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console.print(Text.assemble((sheet.title, "bold cyan"), f": {sheet.summary}"))
    rows = sheet.rows if full else sheet.rows[:SHOWN]
    if rows:
        chosen = ESSENTIAL.get(sheet.title, tuple(range(len(sheet.columns))))
        lines = box.SIMPLE_HEAD if console.is_terminal else None
        grid = Table(
            *(sheet.columns[index] for index in chosen),
            box=lines,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="bold",
        )
        for column in grid.columns:
            column.overflow = "fold"
            column.no_wrap = column.header in ("where", "first at")  # a place to copy stays in one piece
        for row in rows:
            is_left = sheet.title == "API satisfaction" and row[3] in LEFT
            grid.add_row(*(Text(_short(row[index])) for index in chosen), style="red" if is_left else "")
        console.print(grid)
    if len(rows) < len(sheet.rows):
        console.print(f"… and {len(sheet.rows) - len(rows)} more: --full, or -o report.html --format html")
    console.print()


def _short(name: str) -> str:
    """Long prefixes, as one would write them in code."""
    for long, short in (
        ("mindspore.dataset.vision.", "vision."),
        ("mindspore.", "ms."),
        *framework().short,
    ):
        name = name.replace(long, short)
    return name
