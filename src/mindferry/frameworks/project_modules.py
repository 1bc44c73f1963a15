"""Modules of the project that a worker runs, imported by their path from its folder, wherever a script of theirs would be run."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def import_of_project(name: str) -> Any:
    """`code.train` is the project's also where Python has a `code` of its own; files of a folder that is no package find their neighbours."""
    *folders, last = name.split(".")
    entry = next((each for each in sys.path if folders and _holds(Path(each, *folders), last)), None)
    if entry is not None:
        home, outermost = Path(entry, *folders), importlib.import_module(folders[0])
        places = list(getattr(outermost, "__path__", ()))
        if str(Path(entry, folders[0])) not in places:
            outermost.__path__ = [*places, str(Path(entry, folders[0]))]
        if not (home / "__init__.py").is_file() and str(home) not in sys.path:
            sys.path.append(str(home))
    return importlib.import_module(name)


def _holds(folder: Path, name: str) -> bool:
    return (folder / f"{name}.py").is_file() or (folder / name).is_dir()
