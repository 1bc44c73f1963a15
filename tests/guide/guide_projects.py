"""What the guide's tests share: projects written from texts, a module loaded from a converted file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from mindferry import convert_source


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def load(text: str, path: Path) -> ModuleType:
    """A module of that text; from a file, because MindSpore compiles nothing else."""
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def both(text: str, folder: Path) -> tuple[ModuleType, ModuleType]:
    """The text as it is, and converted; the conversion must leave nothing to a person."""
    conversion = convert_source(text)
    assert [str(each) for each in conversion.findings if each.severity == "error"] == []
    return load(text, folder / "theirs.py"), load(conversion.code, folder / "ours.py")
