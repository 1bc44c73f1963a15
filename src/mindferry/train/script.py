"""Runs a training script in a worker until it has made enough steps."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import MindferryError
from ..frameworks.entry import run_entry


class EnoughSteps(BaseException):
    """Raised inside the script to end it; not an Exception, so that the script's own handlers let it pass."""


def run_script(project: Path, script: str, arguments: Sequence[str], stdin: str = "") -> None:
    """`stdin` is what the script is told by its standard input."""
    sys.stdin = io.StringIO(stdin)
    try:
        run_entry(project, script, arguments)
    except EnoughSteps:
        pass
    except SystemExit as error:
        if error.code not in (0, None):
            raise MindferryError(f"{script} ended with {error.code!r}; check [train] args in mindferry.toml") from None
