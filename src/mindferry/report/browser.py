"""Opens the report where there is a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from ..errors import MindferryError


def open_in_browser(path: Path) -> None:
    try:
        is_open = webbrowser.open(path.resolve().as_uri())
    except (webbrowser.Error, OSError):
        is_open = False
    if not is_open:
        raise MindferryError(
            f"no browser was found to open {path}, which is written; open it yourself, or name a browser in $BROWSER"
        )
