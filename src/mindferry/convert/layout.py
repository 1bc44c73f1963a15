"""Which files a project has, what its modules are called, and where its helpers go."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import MindferryError
from .imports import COMPAT_MODULE

SKIPPED_FOLDERS = {
    ".git",
    ".hg",
    ".svn",
    "__pycache__",
    ".venv",
    "venv",
    ".mindferry",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    "node_modules",
}
CHECKPOINTS = {".pth", ".pt", ".ckpt", ".safetensors"}
LARGEST_COPY = 10 * 2**20


@dataclass(frozen=True, slots=True)
class ProjectFile:
    path: Path
    relative: str  # with forward slashes
    module: str  # dotted name as the project imports it; '' if it is not Python
    is_package: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path
    files: tuple[ProjectFile, ...]
    excluded: tuple[ProjectFile, ...]

    @property
    def python(self) -> list[ProjectFile]:
        return [file for file in self.files if file.module]

    def helper_home(self, file: ProjectFile) -> tuple[str, str]:
        """(folder of ms_compat.py relative to the root, import statement) for a file that uses helpers."""
        folder = Path(file.relative).parent
        depth = 0
        while (self.root / folder / "__init__.py").is_file() and str(folder) != ".":
            folder, depth = folder.parent, depth + 1
        if (self.root / "__init__.py").is_file() and str(folder) == ".":
            depth += 1
        if not depth:
            return (str(folder) if not self._imported_from_root(file) else ".", f"import {COMPAT_MODULE}")
        package = Path(*Path(file.relative).parts[: len(folder.parts) + 1]) if not (self.root / "__init__.py").is_file() else Path(".")
        dots = "." * max(depth, 1)
        return str(package), f"from {dots} import {COMPAT_MODULE}"

    def _imported_from_root(self, file: ProjectFile) -> bool:
        """Folders without __init__.py are imported by their path from the root (`models.net`), scripts are run where they are."""
        return "/" not in file.relative or not self._is_script(file)

    def _is_script(self, file: ProjectFile) -> bool:
        try:
            return b"__main__" in file.path.read_bytes()
        except OSError:
            return False


def find_files(path: Path, exclude: tuple[str, ...], output: Path | None = None) -> Layout:
    """The project's files in a stable order."""
    if not path.exists():
        raise MindferryError(f"there is no {path}; give a file or a folder")
    if path.is_file():
        if path.suffix not in (".py", ".ipynb"):
            raise MindferryError(f"{path} is not a Python file; give a .py file or a folder")
        return Layout(path.parent, (ProjectFile(path, path.name, path.stem),), ())
    kept: list[ProjectFile] = []
    left: list[ProjectFile] = []
    for file in _walk(path, output):
        relative = file.relative_to(path).as_posix()
        entry = ProjectFile(file, relative, _module(path, relative), file.name == "__init__.py")
        (left if any(fnmatch.fnmatch(relative, pattern) for pattern in exclude) else kept).append(entry)
    if not kept:
        raise MindferryError(f"{path} is empty; give the folder that holds the project")
    return Layout(path, tuple(kept), tuple(left))


def _walk(root: Path, output: Path | None) -> Iterator[Path]:
    skipped = output.resolve() if output is not None else None
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED_FOLDERS and (here / name).resolve() != skipped and not name.endswith(".egg-info")
        )
        for name in sorted(names):
            yield here / name


def _module(root: Path, relative: str) -> str:
    if not relative.endswith(".py"):
        return ""
    parts = relative.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    if (root / "__init__.py").is_file():
        parts.insert(0, root.resolve().name)
    return ".".join(parts) or root.resolve().name
