"""What a watched run of the reference showed: one file that `convert`, `verify` and `train` use, here or on another machine.

The file is a zip archive: `observation.json`, arrays as `.npy`, the networks' weights as `.pth`. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from .as_json import UNBUILDABLE, build, laid_out, plain
from .errors import MindferryError, brief
from .files import complete_or_absent

FORMAT = 1
RECORD = "observation.json"
LARGEST = 64 << 20  # bytes of the record
# what a damaged or hostile archive raises
UNREADABLE = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class SeenType:
    """What stood somewhere: a tensor, an instance of a class, a list of something."""

    kind: str  # as in read/types.py
    name: str = ""  # dotted, of a class, module or function
    items: tuple[SeenType, ...] = ()
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenSite:
    line: int
    column: int  # bytes from the start of the line, as Python's ast counts
    end_line: int
    end_column: int
    types: tuple[SeenType, ...]


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A source file as it was when it ran."""

    path: str
    digest: str
    lines: tuple[int, ...] = ()  # of statements that ran
    statements: tuple[int, ...] = ()  # all of them
    sites: tuple[SeenSite, ...] = ()

    @property
    def unreached(self) -> tuple[int, ...]:
        return tuple(sorted(set(self.statements) - set(self.lines)))


@dataclass(frozen=True, slots=True)
class SeenClass:
    name: str
    attributes: dict[str, tuple[SeenType, ...]]


@dataclass(frozen=True, slots=True)
class Value:
    """An argument: an array by its name, a plain value by its text, or a container of such; an object by its class, `module:name`."""

    kind: str  # array, plain, list, tuple, dict, object, other
    text: str = ""
    items: tuple[Value, ...] = ()
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Input:
    """One call of a network."""

    positional: tuple[Value, ...]
    named: dict[str, Value]
    is_training: bool


@dataclass(frozen=True, slots=True)
class Maker:
    """A call that made a network: of its class, or of a function around it."""

    module: str
    name: str
    file: str
    arguments: dict[str, str]  # as written in Python
    is_plain: bool  # all of them are plain values
    path: str  # where it was called
    line: int

    @property
    def text(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.arguments.items())})"


@dataclass(frozen=True, slots=True)
class Network:
    name: str  # dotted name of its class
    makers: tuple[Maker, ...]
    calls: int
    shapes: tuple[str, ...]  # of the arguments, each combination once
    inputs: tuple[Input, ...]
    structure: tuple[tuple[str, ...], ...]  # (path, class) of every module
    parameters: int
    state: str = ""  # file in the archive


@dataclass(frozen=True, slots=True)
class Loader:
    dataset: str
    batch_size: int
    batches: int  # -1: not known
    sampler: str
    workers: int
    path: str
    line: int
    first: Value
    passes: int = 1  # how often the script went through it, or began to


@dataclass(frozen=True, slots=True)
class Made:
    """An optimizer or a schedule."""

    name: str
    options: dict[str, str]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One command, and how it ended."""

    command: tuple[str, ...]
    ended: str  # itself, steps, seconds, interrupted
    seconds: float
    losses: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    seeds: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()  # data files
    processes: int = 1
    stdin: str = ""  # what it read from its standard input
    metrics: dict[str, str] = field(default_factory=dict)  # what it printed last of each: accuracy, mAP, ...
    peak_memory: int = 0  # bytes of the process that trains
    written: tuple[str, ...] = ()  # files of the project that it made and no later command changed


@dataclass(frozen=True, slots=True)
class Observation:
    project: str
    runs: tuple[CommandRun, ...]
    files: tuple[SeenFile, ...]
    classes: tuple[SeenClass, ...] = ()
    networks: tuple[Network, ...] = ()
    loaders: tuple[Loader, ...] = ()
    optimizers: tuple[Made, ...] = ()
    schedules: tuple[Made, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    apis: tuple[str, ...] = ()  # of torch, on lines that ran
    unloaded: tuple[str, ...] = ()  # files that no command imported
    written: tuple[str, ...] = ()  # files of the project that were not there before
    uncalled: tuple[str, ...] = ()  # networks that were made and never called, or too many to keep: "Net: why"


def save_observation(observation: Observation, path: Path, parts: dict[str, Path]) -> None:
    """Write the archive; `parts` are the files beside the record, by their names in it."""
    body = laid_out({"mindferry": FORMAT, "kind": "Observation", **plain(observation)}) + "\n"
    with complete_or_absent(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(RECORD, body)
        for name, part in sorted(parts.items()):
            archive.write(part, name)


def load_observation(path: Path) -> Observation:
    again = "run `mindferry observe` again"
    try:
        body = json.loads(_record(path))
    except FileNotFoundError:
        raise MindferryError(f"there is no {path}; `mindferry observe PROJECT -o {path} -- COMMAND` makes it") from None
    except (*UNREADABLE, RecursionError) as error:
        raise MindferryError(f"cannot read {path} ({brief(str(error))}); {again}") from None
    if not isinstance(body, dict) or body.get("kind") != "Observation" or body.get("mindferry") != FORMAT:
        raise MindferryError(f"{path} was not written by this version of mindferry; {again}")
    try:
        return cast(Observation, build(Observation, body))
    except UNBUILDABLE as error:
        raise MindferryError(f"{path} is damaged ({brief(str(error))}); {again}") from None


def _record(path: Path) -> bytes:
    if not path.is_file():  # a pipe would be waited for
        raise FileNotFoundError(path) if not path.exists() else OSError("it is no regular file")
    with zipfile.ZipFile(path) as archive, archive.open(RECORD) as file:
        data = file.read(LARGEST + 1)  # not what its header says: a bomb says anything
    if len(data) > LARGEST:
        raise ValueError(f"its record is larger than {LARGEST >> 20} MB")
    return data


def extract_part(archive: Path, name: str, folder: Path) -> Path:
    """One file of the archive, as a file of its last name in `folder`."""
    target = folder / (Path(name).name or "part")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(archive) as held, held.open(name) as source, target.open("wb") as out:
            shutil.copyfileobj(source, out)
    except UNREADABLE as error:
        raise MindferryError(
            f"cannot read {brief(name)} in {archive} ({brief(str(error))}); run `mindferry observe` again"
        ) from None
    return target


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
