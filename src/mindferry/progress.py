"""Progress on stderr while long work runs; silent when stderr is not a terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .errors import printable

stderr = Console(stderr=True)
stdout = Console(
    width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
)  # in a pipe, names longer than usual stay whole


class Advance(Protocol):
    def __call__(self, note: str = "", steps: int = 1) -> None: ...


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """`with progress("convert", len(files)) as advance: ... advance(name)`."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),  # a file may be called `[/b].py`
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bars:
        task = bars.add_task(title, total=total)

        def advance(note: str = "", steps: int = 1) -> None:
            bars.update(task, advance=steps, description=printable(f"{title} {note}".rstrip()))

        yield advance
