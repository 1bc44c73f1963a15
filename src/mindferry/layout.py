"""Which files a project has, what its modules are called, and what they define."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .apis import framework, table
from .apis._lookup import FRAMEWORKS as FRAMEWORKS
from .errors import MindferryError
from .observation import Observation
from .read.infer import read
from .read.observed import ObservedTypes, observed_types
from .read.source import Source, Unreadable
from .read.symbols import Symbols

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
SMALL = 40  # files
DEEPEST = 200  # imports followed from one file
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import|import[ \t]+([\w.]+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProjectFile:
    path: Path
    relative: str  # with forward slashes
    module: str  # dotted name as the project imports it; '' if it is not Python
    is_package: bool = False

    @property
    def is_code(self) -> bool:
        return bool(self.module) or self.path.suffix == ".ipynb"


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path
    files: tuple[ProjectFile, ...]
    excluded: tuple[ProjectFile, ...]

    @property
    def python(self) -> list[ProjectFile]:
        return [file for file in self.files if file.module]


def find_files(path: Path, exclude: tuple[str, ...], output: Path | None = None) -> Layout:
    """The project's files in a stable order."""
    if not path.exists():
        raise MindferryError(f"there is no {path}; give a file or a folder")
    if path.is_file():
        if path.suffix not in (".py", ".ipynb"):
            raise MindferryError(f"{path} is not a Python file; give a .py file or a folder")
        return Layout(path.parent, (ProjectFile(path, path.name, path.stem if path.suffix == ".py" else ""),), ())
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
            if (here / name).is_file() or (here / name).is_symlink():  # nothing can be read from a pipe or a socket
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


def read_symbols(layout: Layout, observation: Observation | None = None) -> Symbols:
    """What the project's modules define, read in the order in which they import each other.

    With an observation they are read again: what was seen settles what the text alone does not.
    """
    symbols = _read_all(layout, ObservedTypes())
    if observation is None:
        return symbols
    files = {file.relative: file.path.read_bytes() for file in layout.files if file.is_code and file.path.is_file()}
    return _read_all(layout, observed_types(observation, files, symbols.classes)[0])


def _read_all(layout: Layout, seen: ObservedTypes) -> Symbols:
    roots = frozenset(file.module.partition(".")[0] for file in layout.python)
    excluded = frozenset(file.module for file in layout.excluded)
    symbols = Symbols(framework(), excluded=excluded, roots=roots, seen=seen)
    rules = table()
    rounds = (
        2 if len(layout.python) <= SMALL else 1
    )  # a small project is read twice: what a call tells may settle another call
    for _ in range(rounds):
        for file in _imported_first(layout):
            try:
                read(Source(file.path.read_bytes(), file.relative), symbols, file.module, file.is_package, rules.is_api)
            except (Unreadable, OSError, RecursionError):
                continue
    return symbols


def _imported_first(layout: Layout) -> list[ProjectFile]:
    """Files after those that they import, as far as there are no cycles."""
    by_module = {file.module: file for file in layout.python}
    order: dict[str, ProjectFile] = {}

    def add(file: ProjectFile, waiting: frozenset[str]) -> None:
        if file.module in order or file.module in waiting or len(waiting) > DEEPEST:
            return
        for name in _imports(file):
            if name in by_module:
                add(by_module[name], waiting | {file.module})
        order[file.module] = file

    for file in layout.python:
        add(file, frozenset())
    return list(order.values())


def _imports(file: ProjectFile) -> list[str]:
    """Modules named in the file's import lines, relative ones resolved; text is enough for an order."""
    try:
        text = file.path.read_text("utf-8", "replace")
    except OSError:
        return []
    package = file.module.split(".") if file.is_package else file.module.split(".")[:-1]
    found = []
    for dots, name, plain in _IMPORT.findall(text):
        base = package[: len(package) - len(dots) + 1] if dots else []
        found.append(plain or ".".join([*base, *([name] if name else [])]))
    return found


def uses_torch(layout: Layout) -> bool:
    return any(mentions_torch(file.path) for file in layout.files if file.is_code)


def mentions_torch(path: Path) -> bool:
    try:
        data = path.read_bytes()
    except OSError:
        return False
    return any(name.encode() in data for name in FRAMEWORKS)
