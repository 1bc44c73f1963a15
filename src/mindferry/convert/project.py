"""A whole project: every file read, converted or copied, and the helpers that it needs written beside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ..artifacts import STATE, FileConversion, Finding, ProjectConversion, load, save
from ..config import read_config
from ..errors import MindferryError
from ..files import write_bytes
from ..layout import CHECKPOINTS, LARGEST_COPY, Layout, ProjectFile, find_files, read_symbols, uses_torch
from ..progress import Advance
from ..rules import table
from ..syntax.source import Source, Unreadable
from ..syntax.symbols import Symbols
from .engine import convert_file
from .helpers_module import render
from .imports import COMPAT_MODULE
from .launch_files import README, SCRIPT, entry_of, is_distributed, launch_script, readme
from .requirements import is_requirements, rewrite_requirements


@dataclass(slots=True)
class Written:
    """A file of the output before it is written."""

    record: FileConversion
    data: bytes | None  # None: nothing is written
    compat: set[str]


def convert_project(path: Path, output: Path, *, check: bool = False, advance: Advance | None = None) -> ProjectConversion:
    """Convert a file or a folder into `output`. With `check` nothing is written."""
    path = Path(path)
    config = read_config(path)
    layout = find_files(path, config.convert.exclude, output)
    previous = None if check else previous_conversion(path, output)
    symbols = read_symbols(layout)
    if not uses_torch(layout):
        raise MindferryError(f"{path} uses no torch: there is nothing to convert")
    written = []
    for file in layout.files:
        written.append(_convert_one(file, layout, symbols))
        if advance:
            advance(file.relative)
    helpers = [*_helpers(layout, written), *_launch_files(written, config.train.script)]
    result = ProjectConversion(str(path.resolve()), str(output.resolve()), tuple(each.record for each in (*written, *helpers)),
                               tuple(sorted(set().union(*(each.compat for each in written)))), _parameter_names())  # fmt: skip
    if not check:
        result = _write(output, result, [*written, *helpers], previous)
    return result


def _convert_one(file: ProjectFile, layout: Layout, symbols: Symbols) -> Written:
    try:
        raw = file.path.read_bytes() if _is_copied(file) else b""
    except OSError as error:
        return _failed(file, Unreadable(f"cannot be read: {error.strerror}"))
    if not file.module:
        return _copy(file, raw)
    try:
        source = Source(raw, file.relative)
        result = convert_file(source, symbols, file.module, file.is_package, helper_home(layout, file)[1])
    except Unreadable as error:
        return _failed(file, error, raw)
    except RecursionError:
        return _failed(file, Unreadable("nested too deeply to be read"), raw)
    data = result.code.encode(source.encoding if source.encoding != "utf-8-sig" else "utf-8")
    if source.encoding == "utf-8-sig":
        data = b"\xef\xbb\xbf" + data
    status = "converted" if data != raw else "unchanged"
    rewrites = tuple(sorted(result.rewrites, key=lambda each: (each.line, each.column)))
    return Written(FileConversion(file.relative, status, _digest(data), rewrites, tuple(result.findings)), data, result.compat)


def _is_copied(file: ProjectFile) -> bool:
    return bool(file.module) or (file.path.suffix not in CHECKPOINTS and file.path.stat().st_size <= LARGEST_COPY)


def _copy(file: ProjectFile, raw: bytes) -> Written:
    if not _is_copied(file):
        what = "a checkpoint" if file.path.suffix in CHECKPOINTS else "larger than 10 MB"
        advice = "convert it with `mindferry weights convert`" if file.path.suffix in CHECKPOINTS else "copy or link it yourself"
        finding = Finding("MF902", "note", file.relative, 1, 1, f"not copied: it is {what}", advice)
        return Written(FileConversion(file.relative, "skipped", "", (), (finding,)), None, set())
    if is_requirements(file.relative):
        raw = rewrite_requirements(raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return Written(FileConversion(file.relative, "copied", _digest(raw)), raw, set())


def _failed(file: ProjectFile, error: Unreadable, raw: bytes | None = None) -> Written:
    finding = Finding("MF900", "error", file.relative, error.line, error.column, str(error), "mend the file and convert again; it was copied as it is"
                      if raw is not None else "make it readable and convert again")  # fmt: skip
    return Written(FileConversion(file.relative, "failed", _digest(raw or b""), (), (finding,)), raw, set())


def helper_home(layout: Layout, file: ProjectFile) -> tuple[str, str]:
    """(folder of ms_compat.py relative to the root, import statement) for a file that uses helpers."""
    folder, depth = Path(file.relative).parent, 0
    is_package = (layout.root / "__init__.py").is_file()
    while (layout.root / folder / "__init__.py").is_file() and str(folder) != ".":
        folder, depth = folder.parent, depth + 1
    if is_package and str(folder) == ".":
        return ".", f"from {'.' * (depth + 1)} import {COMPAT_MODULE}"
    if depth:
        package = Path(*Path(file.relative).parts[: len(folder.parts) + 1])
        return str(package), f"from {'.' * depth} import {COMPAT_MODULE}"
    # Folders without __init__.py are imported by their path from the root (`models.net`); scripts are run where they are.
    is_script = "/" in file.relative and b"__main__" in file.path.read_bytes()
    return (str(folder) if is_script else ".", f"import {COMPAT_MODULE}")


def _helpers(layout: Layout, written: list[Written]) -> list[Written]:
    """One ms_compat.py for each package or script folder that uses helpers."""
    wanted: dict[str, set[str]] = {}
    for file, each in zip(layout.files, written, strict=True):
        if each.compat:
            wanted.setdefault(helper_home(layout, file)[0], set()).update(each.compat)
    result = []
    for folder, names in sorted(wanted.items()):
        relative = (Path(folder) / f"{COMPAT_MODULE}.py").as_posix()
        data = render(names).encode("utf-8")
        result.append(Written(FileConversion(relative, "helpers", _digest(data)), data, names))
    return result


def _launch_files(written: list[Written], script: str) -> list[Written]:
    """The launch script of a distributed project, and its README with lines about it."""
    texts = {each.record.path: each.data or b"" for each in written}
    records = [each.record for each in written]
    if not is_distributed(records) or SCRIPT in texts:
        return []
    entry = entry_of(records, texts, script)
    files = {SCRIPT: launch_script(entry), README: readme(texts.get(README, b""), entry)}
    written[:] = [each for each in written if each.record.path != README]
    return [Written(FileConversion(path, "launch", _digest(data)), data, set()) for path, data in files.items()]


def previous_conversion(path: Path, output: Path) -> ProjectConversion | None:
    """What an earlier run wrote there; refuses a folder that holds something else."""
    if not output.exists():
        return None
    if not output.is_dir():
        raise MindferryError(f"{output} is a file; give a folder with -o")
    if output.resolve() == (path if path.is_dir() else path.parent).resolve():
        raise MindferryError(f"{output} is the project itself; give another folder with -o")
    if not any(output.iterdir()):
        return None
    if not (output / STATE / "convert.json").is_file():
        if {each.name for each in output.iterdir()} <= {STATE}:
            return None
        raise MindferryError(f"{output} already holds something else; give an empty or new folder with -o")
    previous = load(ProjectConversion, output, "convert")
    if Path(previous.source).resolve() != path.resolve():
        raise MindferryError(f"{output} holds the conversion of {previous.source}; give another folder with -o")
    return previous


def _write(output: Path, result: ProjectConversion, written: list[Written], previous: ProjectConversion | None) -> ProjectConversion:
    known = {file.path: file.digest for file in previous.files} if previous else {}
    records = []
    for each in written:
        target = output / each.record.path
        record = each.record
        if each.data is not None:
            current = _digest(target.read_bytes()) if target.is_file() else ""
            if current and current not in (known.get(record.path, ""), record.digest):
                finding = Finding("MF903", "warning", record.path, 1, 1, "edited since it was converted, so it was not written again",
                                  f"remove {target} to have it converted anew")  # fmt: skip
                record = FileConversion(record.path, "kept", known.get(record.path, ""), record.rewrites, (*record.findings, finding))
            elif current != record.digest:
                write_bytes(target, each.data)
        records.append(record)
    result = ProjectConversion(result.source, result.output, tuple(records), result.helpers, result.parameter_names)
    save(result, output, "convert")
    return result


def _parameter_names() -> dict[str, dict[str, str]]:
    return {entry.to: dict(entry.params) for entry in table() if entry.params and entry.to.startswith("mindspore.")}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
