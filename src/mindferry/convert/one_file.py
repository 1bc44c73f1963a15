"""One file of a project: converted, rewritten as a list of dependencies, copied, or left with a finding."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from .. import findings
from ..artifacts import FileConversion, Finding
from ..layout import CHECKPOINTS, LARGEST_COPY, Layout, ProjectFile
from ..read.source import Source, Unreadable, is_script
from ..read.symbols import Symbols
from .dependencies import rewrite_dependencies
from .engine import FileResult, convert_file
from .render.imports import COMPAT_MODULE
from .render.notebook import convert_notebook
from .settings import Settings


@dataclass(slots=True)
class Written:
    """A file of the output before it is written."""

    record: FileConversion
    data: bytes | None  # None: nothing is written
    compat: set[str]


def convert_one(file: ProjectFile, layout: Layout, symbols: Symbols, settings: Settings) -> Written:
    """Nothing that a file holds stops the others."""
    try:
        raw = file.path.read_bytes() if _is_copied(file) else b""
    except OSError as error:
        return _failed(file, Unreadable(f"cannot be read: {error.strerror}"))
    if not file.is_code:
        return _copy(file, raw)
    try:
        data, result = _converted(file, raw, helper_home(layout, file)[1], symbols.fork(), settings)
    except Unreadable as error:
        return _failed(file, error, raw)
    except RecursionError:
        return _failed(file, Unreadable("nested too deeply to be read"), raw)
    status = "converted" if data != raw else "unchanged"
    rewrites = tuple(sorted(result.rewrites, key=lambda each: (each.line, each.column)))
    return Written(
        FileConversion(
            file.relative, status, digest(data), rewrites, tuple(result.findings), sites=tuple(result.sites)
        ),
        data,
        result.compat,
    )


def _converted(
    file: ProjectFile, raw: bytes, compat_import: str, symbols: Symbols, settings: Settings
) -> tuple[bytes, FileResult]:
    if not file.module:
        return convert_notebook(raw, file.relative, symbols, compat_import, settings)
    source = Source(raw, file.relative)
    result = convert_file(source, symbols, file.module, file.is_package, compat_import, settings)
    if source.encoding == "utf-8-sig":
        return b"\xef\xbb\xbf" + result.code.encode("utf-8"), result
    try:
        return result.code.encode(source.encoding), result
    except UnicodeEncodeError:  # a finding's arrow in a file that is declared to be latin-1
        return result.code.encode(source.encoding, "replace"), result


def _is_copied(file: ProjectFile) -> bool:
    return file.is_code or (file.path.suffix not in CHECKPOINTS and file.path.stat().st_size <= LARGEST_COPY)


def _copy(file: ProjectFile, raw: bytes) -> Written:
    if not _is_copied(file):
        what = "a checkpoint" if file.path.suffix in CHECKPOINTS else "larger than 10 MB"
        advice = (
            "convert it with `mindferry weights convert`"
            if file.path.suffix in CHECKPOINTS
            else "copy or link it yourself"
        )
        finding = Finding(findings.MF902, "note", file.relative, 1, 1, f"not copied: it is {what}", advice)
        return Written(FileConversion(file.relative, "skipped", "", (), (finding,)), None, set())
    data, message = rewrite_dependencies(file.relative, raw)
    found = (
        (Finding(findings.MF905, "warning", file.relative, 1, 1, message, "put mindspore in torch's place"),)
        if message
        else ()
    )
    return Written(FileConversion(file.relative, "copied", digest(data), (), found), data, set())


def _failed(file: ProjectFile, error: Unreadable, raw: bytes | None = None) -> Written:
    advice = (
        "mend the file and convert again; it was copied as it is"
        if raw is not None
        else "make it readable and convert again"
    )
    finding = Finding(findings.MF900, "error", file.relative, error.line, error.column, str(error), advice)
    return Written(FileConversion(file.relative, "failed", digest(raw or b""), (), (finding,)), raw, set())


def helper_home(layout: Layout, file: ProjectFile) -> tuple[str, str]:
    """(folder of ms_compat.py relative to the root, import statement) for a file that uses helpers."""
    folder, depth = Path(file.relative).parent, 0
    if not file.module:
        return str(folder), f"import {COMPAT_MODULE}"  # a notebook runs where it stands
    is_package = (layout.root / "__init__.py").is_file()
    while (layout.root / folder / "__init__.py").is_file() and str(folder) != ".":
        folder, depth = folder.parent, depth + 1
    if is_package and str(folder) == ".":
        return ".", f"from {'.' * (depth + 1)} import {COMPAT_MODULE}"
    if depth:
        package = Path(*Path(file.relative).parts[: len(folder.parts) + 1])
        return str(package), f"from {'.' * depth} import {COMPAT_MODULE}"
    # Folders without __init__.py are imported by their path from the root (`models.net`); scripts are run where they are.
    runs_in_place = "/" in file.relative and is_script(file.path.read_bytes())
    return (str(folder) if runs_in_place else ".", f"import {COMPAT_MODULE}")


def with_key(written: Written, key: str) -> Written:
    """Marked with what it was made from."""
    return Written(
        replace(written.record, key=key, helpers=tuple(sorted(written.compat))), written.data, written.compat
    )


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
