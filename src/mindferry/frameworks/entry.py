"""Runs in this process what a command runs in one of its own: a script, a module, a notebook, or code that the command holds."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from ..config import CODE, MODULE, NOTEBOOK
from ..errors import MindferryError
from .watch.mindferry_watch.notebook import run_cells


def run_entry(project: Path, script: str, arguments: Sequence[str]) -> None:
    """`script` is as a [train] section names it; whatever it raises passes."""
    name = next((start for start in (MODULE, CODE) if script.startswith(start)), "")
    text = script.removeprefix(name)
    path = project / (text.replace(".", "/") if name == MODULE else text)
    if not name and not path.is_file():
        raise MindferryError(f"there is no {path}; name a script of the project, relative to its folder")
    sys.path.insert(0, str(project if name else path.parent))
    sys.argv = ["-c" if name == CODE else str(path), *arguments]
    if name == CODE:
        _run_code(text)
    elif name == MODULE:
        runpy.run_module(text, run_name="__main__", alter_sys=True)
    elif path.suffix == NOTEBOOK:
        run_cells(str(path))
    else:
        runpy.run_path(str(path), run_name="__main__")


def _run_code(text: str) -> None:
    main = ModuleType("__main__")
    sys.modules["__main__"] = main
    exec(compile(text, "<string>", "exec"), main.__dict__)
