"""Which files a project has, what its modules are called, and what they define."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .apis import SOURCES, framework, table
from .apis.torch._packages import need_of_torch
from .errors import MindferryError
from .files import read_regular
from .foreign import tree_of
from .observation import Observation, digest_of
from .read.infer import read
from .read.observed import ObservedTypes, observed_types
from .read.source import Source
from .read.symbols import Symbols

FRAMEWORKS = framework().roots  # packages whose files are worth reading
SECOND = "tensorflow"
ALL_ROOTS = frozenset(root for source in SOURCES for root in framework(source).roots)
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
LARGEST_CODE = 64 * 2**20
ROOM = 4 * 2**20  # of source text whose trees are kept: they take some ten times as much
NOTHING = "it is a link to nothing"
SMALL = 40  # files
RUNS = re.compile(
    rb"^if\b[^\n#]*__main__|^(?:for|while|with)\b|^\w[\w.]*\(", re.MULTILINE
)  # does something when it is run
SCRIPT_START = 4096  # bytes of a file without an ending that tell whether it is Python
DEEPEST = 200  # imports followed from one file
# They begin with the break before the line, which is soon found; a text's first line is given one.
_IMPORT = re.compile(r"\n[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^()]*\)|[^\n]*)|import[ \t]+([\w.]+))")
_BARE_IMPORT = re.compile(rb"\n[ \t]*(?:from|import)[ \t]+(\w+)")

_FIRST_IMPORT = re.compile(rb"(?:^|\")[ \t]*(?:from|import)[ \t]+(?:torch|torchvision)\b", re.MULTILINE)
_SECOND_IMPORT = re.compile(
    rb"(?:^|\")[ \t]*(?:from|import)[ \t]+(?:%s)\b" % "|".join(framework(SECOND).roots).encode(), re.MULTILINE
)
_SHEBANG = re.compile(rb"#![^\n]*\bpython")
_PLAIN_IMPORT = re.compile(rb"^(?:from|import)[ \t]+\w", re.MULTILINE)
_QUOTED_IMPORT = re.compile(rb"\"[ \t]*(?:from|import)[ \t]+(\w+)")  # in a notebook's JSON


@dataclass(frozen=True, slots=True)
class ProjectFile:
    path: Path
    relative: str  # with forward slashes
    module: str  # dotted name as the project imports it; '' if it is not Python
    is_package: bool = False
    is_brought: bool = False  # of a library that the project brings along

    @property
    def is_code(self) -> bool:
        return bool(self.module) or self.path.suffix == ".ipynb"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something in the project's folder that is neither read nor copied."""

    relative: str
    reason: str
    is_unread: bool = False  # code, or a folder of whose files nothing is known


@dataclass(frozen=True, slots=True)
class Layout:
    root: Path
    files: tuple[ProjectFile, ...]
    excluded: tuple[ProjectFile, ...]
    left_out: tuple[LeftOut, ...] = ()
    names: frozenset[str] = frozenset()  # of all its files and folders, without `.py`, case folded as some disks do
    imported_beside: frozenset[str] = frozenset()  # files of a package that a neighbour imports by their bare name
    is_package: bool = False  # its files import each other through the name of the folder
    run_from: frozenset[str] = frozenset()  # folders inside that look like packages and are where their scripts run
    script_folders: frozenset[str] = frozenset()  # folders inside that are no packages and hold something to run

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
        single = ProjectFile(path, path.name, path.stem if path.suffix == ".py" else "")
        return Layout(path.parent, (single,), (), is_package=(path.parent / "__init__.py").is_file())
    kept: list[ProjectFile] = []
    left: list[ProjectFile] = []
    out: list[LeftOut] = []
    found = list(_walk(path, output))
    is_package = _is_package(path, [each for each in found if isinstance(each, Path)])
    for file in found:
        if isinstance(file, LeftOut):
            out += [file] if not any(fnmatch.fnmatch(file.relative, pattern) for pattern in exclude) else []
            continue
        relative = file.relative_to(path).as_posix()
        entry = ProjectFile(file, relative, _module(path, relative, is_package), file.name == "__init__.py")
        (left if any(fnmatch.fnmatch(relative, pattern) for pattern in exclude) else kept).append(entry)
    if not kept:
        raise MindferryError(f"{path} is empty; give the folder that holds the project")
    names = frozenset(part.casefold().removesuffix(".py") for file in kept for part in file.relative.split("/"))
    beside, scripts = _imported_beside(kept), _script_folders(path, kept)
    return Layout(path, tuple(kept), tuple(left), tuple(out), names, beside, is_package, _run_from(path, kept), scripts)


def _is_package(root: Path, files: list[Path]) -> bool:
    """Whether the folder is a package: not if its files only import each other by what stands in it (`from agents.sac import …`)."""
    if not (root / "__init__.py").is_file():
        return False
    code = [each for each in files if each.suffix == ".py"]
    inside = {each.relative_to(root).parts[0].removesuffix(".py") for each in code}
    is_run_from = False
    for path in code:
        depth = len(path.relative_to(root).parts) - 1
        with contextlib.suppress(OSError):  # whoever converts it says so
            text = read_regular(path, LARGEST_CODE).decode("utf-8", "replace")
            for dots, name, _, plain in _IMPORT.findall(f"\n{text}"):
                first = (plain or name).partition(".")[0]
                if dots and path == root / "__init__.py":  # nobody may ever import it: scripts beside it run without
                    continue
                if len(dots) > depth or (not dots and first == root.resolve().name):
                    return True
                is_run_from |= not dots and first in inside
    return not is_run_from


def _run_from(root: Path, files: list[ProjectFile]) -> frozenset[str]:
    """Outermost packages below the root whose files import each other by what stands in them (`from src.net import …`)."""
    packages = {file.path.parent for file in files if file.is_package} - {root}
    inside: dict[Path, list[Path]] = {each: [] for each in packages if each.parent not in packages}
    for file in files:
        if home := next((each for each in file.path.parents if each in inside), None):
            inside[home].append(file.path)
    found = (folder for folder, paths in inside.items() if not _is_package(folder, paths))
    return frozenset(folder.relative_to(root).as_posix() for folder in found)


def _imported_beside(files: list[ProjectFile]) -> frozenset[str]:
    packages = {file.path.parent for file in files if file.is_package}
    imported: dict[Path, set[str]] = {}
    inside = [file for file in files if file.module and file.path.parent in packages]
    for file in inside:
        imported.setdefault(file.path.parent, set()).update(names_imported(file.path))
    return frozenset(file.relative for file in inside if file.path.stem in imported.get(file.path.parent, set()))


def names_imported(path: Path) -> set[str]:
    """The first part of each name that a file imports absolutely; of a file that can't be read nothing: whoever converts it says so."""
    try:
        found = _BARE_IMPORT.findall(b"\n" + read_regular(path, LARGEST_CODE))
    except OSError:
        return set()
    return {os.fsdecode(name) for name in found}


def _script_folders(root: Path, files: list[ProjectFile]) -> frozenset[str]:
    """Python puts the folder of what is run first on its path, so whatever a script there imports is looked for there."""
    others = {root, *(file.path.parent for file in files if file.is_package)}
    found: set[Path] = set()
    for file in files:
        if file.module and file.path.parent not in others | found:
            with contextlib.suppress(OSError):  # whoever converts it says so
                found |= {file.path.parent} if RUNS.search(read_regular(file.path, LARGEST_CODE)) else set()
    return frozenset(folder.relative_to(root).as_posix() for folder in found)


def _walk(root: Path, output: Path | None) -> Iterator[Path | LeftOut]:
    """Regular files, and links to such within the project. Anything else is named, with the reason why it is left out."""
    skipped = output.resolve() if output is not None else None
    whole = root.resolve()
    unread: list[OSError] = []
    for folder, folders, names in os.walk(root, onerror=unread.append):
        here = Path(folder)
        wanted = sorted(name for name in folders if name not in SKIPPED_FOLDERS and not name.endswith(".egg-info"))
        folders[:] = [name for name in wanted if not (here / name).is_symlink() and (here / name).resolve() != skipped]
        for name in sorted({*names, *(name for name in wanted if (here / name).is_symlink())}):
            path = here / name
            reason = _reason_to_leave(path, whole)
            is_unread = reason == NOTHING and path.suffix in (".py", ".ipynb")
            yield LeftOut(path.relative_to(root).as_posix(), reason, is_unread) if reason else path
    for error in unread:
        relative = Path(error.filename).relative_to(root).as_posix()
        yield LeftOut(relative, f"{error.strerror}", is_unread=True)


def empty_folders(project: Path, output: Path) -> list[str]:
    """Folders of the project that hold nothing: scripts write into them. Hidden ones are nobody's business."""
    found: list[str] = []
    skipped = output.resolve()
    for folder, folders, names in os.walk(project):
        here = Path(folder)
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS and not name.startswith(".")]
        folders[:] = [name for name in folders if (here / name).resolve() != skipped]
        if not folders and not names and here != project:
            found.append(here.relative_to(project).as_posix())
    return found


def _reason_to_leave(path: Path, root: Path) -> str:
    if not path.is_symlink():
        return "" if path.is_file() else "it is no regular file"
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return NOTHING
    if not target.is_relative_to(root):
        return "it is a link that leaves the project"
    if target.is_dir():
        return "it is a link to a folder"
    return "" if target.is_file() else "it is a link to something that is no regular file"


def is_nameless_script(path: Path) -> bool:
    """Whether a file without an ending is Python: `python train` runs it, and its first line or its imports say so."""
    if "." in path.name or path.with_name(f"{path.name}.py").exists():
        return False
    try:
        with path.open("rb") as file:
            start = file.read(SCRIPT_START)
    except OSError:
        return False
    if b"\0" in start:
        return False
    return bool(_SHEBANG.match(start)) or (bool(_PLAIN_IMPORT.search(start)) and tree_of(path) is not None)


def _module(root: Path, relative: str, is_package: bool) -> str:
    if not relative.endswith(".py") and not is_nameless_script(root / relative):
        return ""
    parts = relative.removesuffix(".py").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    if is_package:
        parts.insert(0, root.resolve().name)
    return ".".join(parts) or root.resolve().name


class Sources:
    """A project's files, parsed once for all who read them, as long as there is room; the last one whatever its size."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: dict[Path, tuple[bytes, Source]] = {}
        self._last: dict[Path, tuple[bytes, Source]] = {}  # there was no room for it

    def read(self, file: ProjectFile) -> Source:
        if (known := self._kept.get(file.path) or self._last.get(file.path)) is not None:
            return known[1]
        raw = read_regular(file.path, LARGEST_CODE)
        self._last.clear()
        source = Source(raw, file.relative)
        if len(raw) <= self._room:
            self._room -= len(raw)
            self._kept[file.path] = raw, source
        else:
            self._last[file.path] = raw, source
        return source

    def take(self, file: ProjectFile, raw: bytes) -> Source:
        """For the last time, and of what the file holds by now."""
        known = self._last.pop(file.path, None)
        self._last.clear()
        if known is None and (known := self._kept.pop(file.path, None)) is not None:
            self._room += len(known[0])
        return known[1] if known is not None and known[0] == raw else Source(raw, file.relative)


def read_symbols(layout: Layout, observation: Observation | None = None, sources: Sources | None = None) -> Symbols:
    """What the project's modules define, read in the order in which they import each other.

    With an observation they are read again: what was seen settles what the text alone does not.
    """
    symbols = read_symbols_on(None, layout, observation, sources)
    if uses_second(layout):
        symbols.second = _read_all(layout, ObservedTypes(), Symbols(framework(SECOND)), Sources())
        symbols.is_first_used = uses_torch(layout)
    return symbols


def read_symbols_on(
    base: Symbols | None, layout: Layout, observation: Observation | None = None, sources: Sources | None = None
) -> Symbols:
    """The same for a project that stands on libraries which have been read."""
    sources = sources or Sources()
    symbols = _read_all(layout, ObservedTypes(), base and base.fork(), sources)
    if observation is None:
        return symbols
    files = {file.relative: _start_of(file.path) for file in layout.files if file.is_code}
    seen = observed_types(observation, files, symbols.classes)[0]
    return _read_all(layout, seen, base and base.fork(), sources)


def _read_all(layout: Layout, seen: ObservedTypes, base: Symbols | None, sources: Sources) -> Symbols:
    roots = frozenset(file.module.partition(".")[0] for file in layout.python)
    roots |= _package_of(layout, roots)
    excluded = frozenset(file.module for file in layout.excluded)
    symbols = base or Symbols(framework())
    symbols.excluded, symbols.seen, symbols.roots = excluded, seen, symbols.roots | roots
    imports = {file: _imports(file) for file in layout.python}
    symbols.beside = symbols.beside | _imported_by_users(imports, symbols.framework.roots)
    rules = table(symbols.framework.name)
    for _ in range(2 if _is_small(layout) else 1):  # what a call tells may settle another call
        for file in _imported_first(imports):
            try:
                read(sources.read(file), symbols, file.module, file.is_package, rules.is_api)
            except Exception:  # whatever one file raises: its own conversion says so
                continue
    return symbols


def _is_small(layout: Layout) -> bool:
    """Whether reading all of it once more takes no time to speak of."""
    if len(layout.python) > SMALL:
        return False
    with contextlib.suppress(OSError):  # a file is gone: its own conversion says so
        return sum(file.path.stat().st_size for file in layout.python) <= ROOM
    return True


def _package_of(layout: Layout, roots: frozenset[str]) -> frozenset[str]:
    """The folder's own name, where it is that of a framework's package and its files import their neighbours by it."""
    name = layout.root.resolve().name
    if name not in FRAMEWORKS:
        return frozenset()
    neighbour = re.compile(rf"^[ \t]*(?:from|import)[ \t]+{name}\.(\w+)".encode(), re.MULTILINE)
    parts = {found.decode() for file in layout.python for found in neighbour.findall(_start_of(file.path))}
    return frozenset({name}) if parts & roots else frozenset()


def _start_of(path: Path) -> bytes:
    """A source's bytes; none where it can't be read, which its own conversion says."""
    try:
        return read_regular(path, LARGEST_CODE)
    except OSError:
        return b""


def _imported_first(imports: Mapping[ProjectFile, list[str]]) -> list[ProjectFile]:
    """Files after those that they import, as far as there are no cycles."""
    by_module = {file.module: file for file in imports}
    order: dict[str, ProjectFile] = {}

    def add(file: ProjectFile, waiting: frozenset[str]) -> None:
        if file.module in order or file.module in waiting or len(waiting) > DEEPEST:
            return
        folder = file.module.rpartition(".")[0]
        for name in imports[file]:
            if known := by_module.get(name) or by_module.get(f"{folder}.{name}"):  # of the project, or beside a script
                add(known, waiting | {file.module})
        order[file.module] = file

    for file in imports:
        add(file, frozenset())
    return list(order.values())


def _imports(file: ProjectFile) -> list[str]:
    """Modules named in the file's import lines, relative ones resolved; text is enough for an order."""
    try:
        text = read_regular(file.path, LARGEST_CODE).decode("utf-8", "replace")
    except OSError:
        return []
    package = file.module.split(".") if file.is_package else file.module.split(".")[:-1]
    found = []
    for dots, name, taken, plain in _IMPORT.findall(f"\n{text}"):
        base = package[: len(package) - len(dots) + 1] if dots else []
        module = plain or ".".join([*base, *([name] if name else [])])
        found.append(module)
        found += [f"{module}.{each}" for each in re.findall(r"\w+", taken)] if taken else []  # `from . import utils`
    return found


def _imported_by_users(imports: Mapping[ProjectFile, list[str]], roots: tuple[str, ...]) -> frozenset[str]:
    """What the files that use a framework import: there a value may be a tensor although the file says nothing of it."""
    found: set[str] = set()
    for file, imported in imports.items():
        if _mentions(file.path, roots):
            found.update(imported)
    return frozenset(found)


def uses_torch(layout: Layout) -> bool:
    """Whether a file names torch, or imports a package that stands on it."""
    code = [file.path for file in layout.files if file.is_code]
    if any(mentions_torch(path) for path in code):
        return True
    own = {file.module.partition(".")[0] for file in layout.python}
    return any(_imports_torch_package(path, own) for path in code)


def _imports_torch_package(path: Path, own: set[str]) -> bool:
    try:
        data = read_regular(path, LARGEST_CODE)
    except OSError:
        return False
    pattern = _QUOTED_IMPORT if path.suffix == ".ipynb" else _BARE_IMPORT
    names = {found.decode() for found in pattern.findall(b"\n" + data)} - own
    return any(need_of_torch(name) is not None for name in names)


def uses_second(layout: Layout) -> bool:
    """Whether a file imports TensorFlow or Keras."""
    names = [name.encode() for name in framework(SECOND).roots]
    texts = (_start_of(file.path) for file in layout.files if file.is_code)
    return any(_SECOND_IMPORT.search(text) for text in texts if any(name in text for name in names))


def source_of(data: bytes, is_first_used: bool = True) -> str:
    """The framework that a file is written for: that which it imports; torch if it imports both, and where nothing tells."""
    if _SECOND_IMPORT.search(data) and not _FIRST_IMPORT.search(data):
        return SECOND
    return framework().name if is_first_used else SECOND


def source_framework(project: Path | None, module: str = "") -> str:
    """Which framework a project runs on: where it uses both, that of the file of this module."""
    if project is None or not project.exists():
        return framework().name
    layout = find_files(project, ())
    if not uses_second(layout):
        return framework().name
    if not uses_torch(layout):
        return SECOND
    file = next((each for each in layout.python if module and each.module == module), None)
    return source_of(file.path.read_bytes()) if file is not None else framework().name


def mentions_source(path: Path) -> bool:
    """Whether a file has to do with a framework that projects are converted from."""
    return _mentions(path, tuple(ALL_ROOTS))


def mentions_torch(path: Path) -> bool:
    return _mentions(path, FRAMEWORKS)


def _mentions(path: Path, roots: tuple[str, ...]) -> bool:
    try:
        data = read_regular(path, LARGEST_CODE)
    except OSError:
        return False
    data = data.replace(b"\0", b"")  # of a notebook in UTF-16
    return any(name.encode() in data for name in roots)


def changed_files(layout: Layout, observation: Observation | None) -> frozenset[str]:
    """Files that are not as they were when they ran."""
    known = {file.path: file.digest for file in observation.files} if observation else {}
    return frozenset(
        file.relative
        for file in layout.files
        if file.relative in known and _digest_at(file.path) not in ("", known[file.relative])
    )


def _digest_at(path: Path) -> str:
    try:
        return digest_of(read_regular(path, LARGEST_CODE))
    except OSError:  # its own conversion says so
        return ""


def carried_name(name: str) -> str:
    """What a checkpoint of torch's is called in a converted project, in its code and on its command line."""
    return re.sub(r"\.(?:pth\.tar|pth|pt)$", ".ckpt", name)
