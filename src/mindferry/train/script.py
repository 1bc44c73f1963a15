"""Runs a training script in a worker until it has made enough steps."""

from __future__ import annotations

import io
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from ..config import MODULE, NOTEBOOK
from ..errors import MindferryError
from ..frameworks.watch.mindferry_watch.notebook import run_cells


class EnoughSteps(BaseException):
    """Raised inside the script to end it; not an Exception, so that the script's own handlers let it pass."""


def run_script(project: Path, script: str, arguments: Sequence[str], stdin: str = "") -> None:
    """`stdin` is what the script is told by its standard input."""
    module = script.removeprefix(MODULE) if script.startswith(MODULE) else ""
    path = project / (module.replace(".", "/") if module else script)
    if not module and not path.is_file():
        raise MindferryError(f"there is no {path}; name the training script in mindferry.toml, [train] script")
    sys.path.insert(0, str(project if module else path.parent))
    sys.argv = [str(path), *arguments]
    sys.stdin = io.StringIO(stdin)
    try:
        if path.suffix == NOTEBOOK:
            run_cells(str(path))
        elif module:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(path), run_name="__main__")
    except EnoughSteps:
        pass
    except SystemExit as error:
        if error.code not in (0, None):
            raise MindferryError(f"{path} ended with {error.code!r}; check [train] args in mindferry.toml") from None
