"""Progress on stderr while long work runs; silent when stderr is not a terminal."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from .errors import printable

if TYPE_CHECKING:
    from rich.console import Console

    stderr: Console
    stdout: Console


def __getattr__(name: str) -> Console:
    """`stdout` and `stderr`, made when they are first asked for: a conversion shows nothing in a pipe, and rich takes long to import."""
    if name not in ("stdout", "stderr"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _console(name)


@functools.cache
def _console(name: str) -> Console:
    from rich.console import Console

    if name == "stderr":
        return Console(stderr=True)
    # in a pipe, names longer than usual stay whole
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120)


class Advance(Protocol):
    def __call__(self, note: str = "", steps: int = 1) -> None: ...


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """`with progress("convert", len(files)) as advance: ... advance(name)`."""
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),  # a file may be called `[/b].py`
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=_console("stderr"), transient=True) as bars:
        task = bars.add_task(title, total=total)

        def advance(note: str = "", steps: int = 1) -> None:
            bars.update(task, advance=steps, description=printable(f"{title} {note}".rstrip()))

        yield advance


def _say_nothing(note: str = "", steps: int = 1) -> None:
    """Nobody sees it."""
