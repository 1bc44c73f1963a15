"""Rewrites the report whenever a stage has written its artifact, until interrupted."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from ..artifacts import STATE
from ..errors import MindferryError
from ..files import write_text
from .content import content
from .page import Watch, html

PROBE = "report-watch.js"
PAUSE = 0.5  # seconds


def watch_report(
    converted: Path, output: Path, show: Callable[[str], None], until: Callable[[], bool] = lambda: False
) -> None:
    """`until` ends it; otherwise Ctrl-C does. The last page written no longer reloads itself."""
    probe = converted / STATE / PROBE
    last: tuple[tuple[str, int], ...] = ()
    try:
        while not until():
            now = _stamps(converted)
            if now != last and now:
                last = now
                _write(converted, output, probe, show)
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        pass
    finally:
        probe.unlink(missing_ok=True)
        if last:
            with contextlib.suppress(MindferryError):
                write_text(output, html(content(converted)))


def _write(converted: Path, output: Path, probe: Path, show: Callable[[str], None]) -> None:
    """One artifact that can't be read now may be whole after the next stage: say so and go on."""
    stamp = time.time_ns() // 1_000_000
    try:
        report = content(converted)
    except MindferryError as error:
        show(str(error))
        return
    write_text(output, html(report, Watch(probe.resolve().as_uri(), stamp)))
    write_text(probe, f"window.mindferryStamp({stamp});\n")
    show(f"{output}: {report.overview.verdict}")


def _stamps(converted: Path) -> tuple[tuple[str, int], ...]:
    """Artifacts and when they were written. Nothing until the code is converted: `convert` wants its folder empty."""
    files = sorted((converted / STATE).glob("*.json"))
    if not (converted / STATE / "convert.json").is_file():
        return ()
    stamps = []
    for path in files:
        with contextlib.suppress(OSError):
            stamps.append((path.name, path.stat().st_mtime_ns))
    return tuple(each for each in stamps if each[0] != "statistics.json")
