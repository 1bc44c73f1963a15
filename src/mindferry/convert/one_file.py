"""One file of a project: converted, rewritten as a list of dependencies, copied, or left with a finding."""

from __future__ import annotations

import hashlib
import re
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

RELATIVE = re.compile(rb"^\s*from\s+\.", re.MULTILINE)
SCRIPT = re.compile(rb"__main__|^(?:for|while|with)\b|^\w[\w.]*\(", re.MULTILINE)  # does something when it is run


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
        return ".", _from_package(layout, file, depth + 1, layout.root.resolve().name)
    if depth:
        package = Path(*Path(file.relative).parts[: len(folder.parts) + 1])
        return str(package), _from_package(layout, file, depth, package.name)
    # Folders without __init__.py are imported by their path from the root (`models.net`); scripts are run where they are.
    runs_in_place = "/" in file.relative and is_script(file.path.read_bytes())
    return (str(folder) if runs_in_place else ".", f"import {COMPAT_MODULE}")


def _from_package(layout: Layout, file: ProjectFile, depth: int, package: str) -> str:
    """`from . import ms_compat`; for a file that is also run or imported where it stands, both ways."""
    relative = f"from {'.' * depth} import {COMPAT_MODULE}"
    if not _stands_alone(layout, file):
        return relative
    alone = [f"import {COMPAT_MODULE}"]
    if depth > 1:  # the folder that holds the package has to be found first
        up = ", ".join(['".."'] * depth)
        alone = [
            "import os",
            "import sys",
            f"sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), {up}))",
            f"from {package} import {COMPAT_MODULE}",
        ]
    lines = ["try:", f"    {relative}", "except ImportError:  # run as a script", *(f"    {line}" for line in alone)]
    return "\n".join(lines)


def _stands_alone(layout: Layout, file: ProjectFile) -> bool:
    """A script inside a package, or a module that one beside it imports by its bare name."""
    text = file.path.read_bytes()
    if RELATIVE.search(text) or file.is_package:
        return False
    if SCRIPT.search(text):
        return True
    name = re.escape(Path(file.relative).stem.encode())
    imported = re.compile(rb"^\s*(?:from|import)\s+" + name + rb"\b", re.MULTILINE)
    beside = [each for each in layout.python if each is not file and each.path.parent == file.path.parent]
    return any(imported.search(each.path.read_bytes()) for each in beside)


def with_key(written: Written, key: str) -> Written:
    """Marked with what it was made from."""
    return Written(
        replace(written.record, key=key, helpers=tuple(sorted(written.compat))), written.data, written.compat
    )


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
