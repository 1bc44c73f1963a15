"""One file of a project: converted, rewritten as a list of dependencies, copied, or left with a finding."""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path

from .. import findings
from ..apis import framework
from ..artifacts import FileConversion, Finding, Rewrite
from ..files import read_regular
from ..layout import (
    CHECKPOINTS,
    LARGEST_CODE,
    LARGEST_COPY,
    RUNS,
    SECOND,
    Layout,
    LeftOut,
    ProjectFile,
    Sources,
    source_of,
)
from ..read.framework import Framework
from ..read.source import Source, Unreadable
from ..read.symbols import Symbols
from .dependencies import rewrite_dependencies
from .engine import FileResult, convert_file
from .names_in_text import LARGEST as LARGEST_CONFIGURATION
from .names_in_text import dotted_home, is_configuration, renamed
from .plain_texts import ChangedText
from .render.helper_use import ProjectUse, use_of_tree
from .render.imports import COMPAT_MODULE, HelpersImport
from .render.notebook import convert_notebook
from .settings import Settings, chosen_rules
from .shell_scripts import is_shell, with_launchers

USUAL_ENCODINGS = frozenset({"utf-8", "utf-8-sig", "iso-8859-1", "ascii"})
RELATIVE = re.compile(rb"^\s*from\s+\.", re.MULTILINE)


@dataclass(slots=True)
class Written:
    """A file of the output before it is written."""

    record: FileConversion
    data: bytes | Path | None  # a path: what stands there, which need not be held in memory; None: nothing is written
    compat: set[str]
    use: ProjectUse | None = None  # of the helpers, where the text was parsed already

    def content(self) -> bytes:
        """What is written; empty where nothing is, or where the file is gone by now."""
        if not isinstance(self.data, Path):
            return self.data or b""
        try:
            return read_regular(self.data)
        except OSError:
            return b""


def convert_one(file: ProjectFile, layout: Layout, symbols: Symbols, settings: Settings, sources: Sources) -> Written:
    """Nothing that a file holds stops the others."""
    raw: bytes | None = None
    try:
        raw = read_regular(file.path, LARGEST_CODE) if _is_copied(file) else b""
        if not file.is_code:
            return _copy(file, raw, settings)
        chosen = _symbols_for(raw, symbols)
        helpers, own = helper_home(layout, file, chosen.framework.helpers)[1], chosen.fork(bool(file.module))
        data, result = _converted(file, raw, helpers, own, settings, sources)
        rewrites = tuple(sorted(result.rewrites, key=lambda each: (each.line, each.column)))
    except OSError as error:
        return failed(file, Unreadable(f"cannot be read: {error.strerror}"))
    except Unreadable as error:
        return failed(file, error, raw)
    except RecursionError:
        return failed(file, Unreadable("nested too deeply to be read"), raw)
    except MemoryError:
        return failed(file, Unreadable("there is not enough memory to convert it"), raw)
    except Exception as error:
        return _defective(file, error, raw or b"")
    if data == raw:
        return _as_it_was(file, "unchanged", raw, rewrites, tuple(result.findings))
    return Written(
        FileConversion(
            file.relative,
            "converted",
            digest(data),
            rewrites,
            tuple(result.findings),
            sites=tuple(result.sites),
            layout=_layout(chosen.framework, rewrites),
        ),
        data,
        result.compat,
        _use(data, result),
    )


def _layout(framework: Framework, rewrites: tuple[Rewrite, ...]) -> str:
    """Where the file's networks have their channels, if it makes layers for which that matters."""
    has_layers = any(each.rule.startswith(framework.laid_out) for each in rewrites) if framework.laid_out else False
    return framework.layout if has_layers else ""


def _use(data: bytes, result: FileResult) -> ProjectUse | None:
    """What the text uses of torch's helpers; of one that is written in another encoding nothing is said."""
    if result.tree is None or data != result.code.encode("utf-8"):
        return None
    return use_of_tree(result.tree, COMPAT_MODULE)


def _symbols_for(raw: bytes, symbols: Symbols) -> Symbols:
    """The project as the file's own framework sees it."""
    if symbols.second is not None and source_of(raw, symbols.is_first_used) == SECOND:
        return symbols.second
    return symbols


def _as_it_was(
    file: ProjectFile,
    status: str,
    raw: bytes,
    rewrites: tuple[Rewrite, ...] = (),
    findings: tuple[Finding, ...] = (),
) -> Written:
    return Written(FileConversion(file.relative, status, digest(raw), rewrites, findings), file.path, set())


def _defective(file: ProjectFile, error: Exception, raw: bytes) -> Written:
    message = f"mindferry failed on this file ({type(error).__name__}: {str(error)[:200]}), so it stays as it was"
    advice = "please report this as a bug of mindferry, with the file"
    return _as_it_was(
        file, "failed", raw, findings=(Finding(findings.MF901, "error", file.relative, 1, 1, message, advice),)
    )


def left_out(each: LeftOut) -> Written:
    """Something that is not copied, with a finding that says why."""
    if each.is_unread:
        message, advice = f"cannot be read: {each.reason}", "make it readable and convert again"
        finding = Finding(findings.MF900, "error", each.relative, 1, 1, message, advice)
    else:
        is_code = each.relative.endswith((".py", ".ipynb"))
        severity, advice = "warning" if is_code else "note", "copy what it stands for into the project, if it is needed"
        finding = Finding(findings.MF902, severity, each.relative, 1, 1, f"not copied: {each.reason}", advice)
    return Written(FileConversion(each.relative, "skipped", "", (), (finding,)), None, set())


def _converted(
    file: ProjectFile, raw: bytes, helpers: HelpersImport, symbols: Symbols, settings: Settings, sources: Sources
) -> tuple[bytes, FileResult]:
    if not file.module:
        return convert_notebook(raw, file.relative, symbols, helpers, settings)
    source = sources.take(file, raw)
    result = convert_file(source, symbols, file.module, file.is_package, helpers, settings)
    if source.mended and result.code.encode("utf-8") == source.data:  # without torch a file is never changed
        raise Unreadable("it is written for an older Python, and has nothing of torch's", source.mended[0].line)
    return _encoded(source, result.code, raw), result


def _encoded(source: Source, code: str, raw: bytes) -> bytes:
    """In the file's own encoding, so that its cookie stays true; what did not change stays byte for byte."""
    if code.encode("utf-8") == source.data:
        return raw
    try:
        data = code.encode(source.encoding)
        is_same = data.decode(source.encoding) == code and _is_read(data, source.encoding)
    except UnicodeError:  # a finding's arrow in a file that is declared to be latin-1
        data, is_same = code.encode(source.encoding, "replace"), True
    if not is_same:
        raise Unreadable(f"its encoding, {source.encoding}, can't be written back; save the file as UTF-8")
    return data


def _is_read(data: bytes, encoding: str) -> bool:
    """Whether Python reads the file so: it decodes each line alone, which not every codec stands."""
    if encoding in USUAL_ENCODINGS:
        return True
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


def _is_copied(file: ProjectFile) -> bool:
    return file.is_code or (not _is_checkpoint(file) and file.path.stat().st_size <= LARGEST_COPY)


def _is_checkpoint(file: ProjectFile) -> bool:
    """That has to be converted; what lies beside a configuration is read as it is, by a library's from_pretrained."""
    is_read = file.path.suffix == ".safetensors" and file.path.with_name("config.json").is_file()
    return file.path.suffix in CHECKPOINTS and not is_read


def _copy(file: ProjectFile, raw: bytes, settings: Settings) -> Written:
    if not _is_copied(file):
        what = "a checkpoint" if _is_checkpoint(file) else "larger than 10 MB"
        advice = "convert it with `mindferry weights convert`" if _is_checkpoint(file) else "copy or link it yourself"
        finding = Finding(findings.MF902, "note", file.relative, 1, 1, f"not copied: it is {what}", advice)
        return Written(FileConversion(file.relative, "skipped", "", (), (finding,)), None, set())
    data, message = rewrite_dependencies(file.relative, raw)
    found: tuple[Finding, ...] = (
        (Finding(findings.MF905, "warning", file.relative, 1, 1, message, "put mindspore in torch's place"),)
        if message
        else ()
    )
    changed = _changed(file, data, settings)
    found += changed.findings
    if changed.rewrites:
        data = changed.text.encode("utf-8", "surrogateescape")
        record = FileConversion(file.relative, "converted", digest(data), changed.rewrites, found)
        return Written(record, data, set(changed.compat))
    if data == raw:
        return _as_it_was(file, "copied", raw, findings=found)
    return Written(FileConversion(file.relative, "copied", digest(data), (), found), data, set())


def _changed(file: ProjectFile, data: bytes, settings: Settings) -> ChangedText:
    """With the names that a configuration holds for code to import, where the project's code does that, and with launchers of MindSpore's."""
    if is_shell(file) and len(data) <= LARGEST_CONFIGURATION:
        return with_launchers(file.relative, data.decode("utf-8", "surrogateescape"))
    if not settings.texts.helpers or not is_configuration(file) or len(data) > LARGEST_CONFIGURATION:
        return ChangedText("")
    text = data.decode("utf-8", "surrogateescape")
    return renamed(file.relative, text, settings.texts.helpers, chosen_rules(settings, framework().name))


def failed(file: ProjectFile, error: Unreadable, raw: bytes | None = None) -> Written:
    advice = (
        "mend the file and convert again; it was copied as it is"
        if raw is not None
        else "make it readable and convert again"
    )
    finding = Finding(findings.MF900, "error", file.relative, error.line, error.column, str(error), advice)
    if raw is not None:
        return _as_it_was(file, "failed", raw, findings=(finding,))
    return Written(FileConversion(file.relative, "failed", "", (), (finding,)), None, set())


def helper_name(layout: Layout, usual: str = COMPAT_MODULE) -> str:
    """ms_compat, unless the project has something of that name itself."""
    name, number = usual, 2
    while name in layout.names:
        name, number = f"{usual}_{number}", number + 1
    return name


def helper_home(layout: Layout, file: ProjectFile, module: str = COMPAT_MODULE) -> tuple[str, HelpersImport]:
    """(folder of the helpers relative to the root, how they are imported) for a file that uses helpers."""
    folder, depth = Path(file.relative).parent, 0
    plain = HelpersImport(module=helper_name(layout, module))
    if not file.is_code:
        return text_home(layout, module)[0], plain
    if not file.module:
        return str(folder), plain  # a notebook runs where it stands
    if file.is_brought:
        relative = f"from {'.' * (file.relative.count('/') + 1)} import {{0}}"
        return ".", replace(plain, lines=relative) if layout.is_package else plain
    while (layout.root / folder / "__init__.py").is_file() and str(folder) != ".":
        folder, depth = folder.parent, depth + 1
    if layout.is_package and str(folder) == ".":
        return ".", _from_package(layout, file, depth + 1, layout.root.resolve().name, plain)
    if depth:
        package = Path(*Path(file.relative).parts[: len(folder.parts) + 1])
        if package.as_posix() in layout.run_from:
            return str(package), replace(plain, lines=_either_way(f"from {'.' * depth} import {{0}}", [plain.lines]))
        return str(package), _from_package(layout, file, depth, package.name, plain)
    # A folder without __init__.py is imported by its path from the root (`models.net`), or what it holds is run in it.
    home = next(
        each for each in (folder, *folder.parents) if str(each) == "." or each.as_posix() in layout.script_folders
    )
    if str(home) == "." or home != folder or not all(map(str.isidentifier, folder.parts)):
        return str(home), plain
    return str(home), replace(plain, lines=_either_way("from . import {0}", [plain.lines]))


def text_home(layout: Layout, module: str = COMPAT_MODULE) -> tuple[str, str]:
    """(the folder, the dotted name) of the helpers that a text names: at the root if code there has them, or else in the first package."""
    homes = [helper_home(layout, file, module)[0] for file in layout.python]
    home = "." if "." in homes or not homes else homes[0]
    return home, dotted_home(layout, home, helper_name(layout, module))


def _from_package(layout: Layout, file: ProjectFile, depth: int, package: str, plain: HelpersImport) -> HelpersImport:
    """`from . import ms_compat`; for a file that is also run or imported where it stands, both ways."""
    relative = f"from {'.' * depth} import {{0}}"
    if not _stands_alone(layout, file):
        return replace(plain, lines=relative)
    alone = [plain.lines]
    if depth > 1:  # the folder that holds the package has to be found first
        up = ", ".join(['".."'] * depth)
        alone = [
            "import os",
            "import sys",
            f"sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), {up}))",
            f"from {package} import {{0}}",
        ]
    return replace(plain, lines=_either_way(relative, alone))


def _either_way(relative: str, alone: list[str]) -> str:
    """How a file of a package, or of one that is run from within, finds the helpers."""
    return "\n".join(
        ["try:", f"    {relative}", "except ImportError:  # run as a script", *(f"    {line}" for line in alone)]
    )


def _stands_alone(layout: Layout, file: ProjectFile) -> bool:
    """A script inside a package, or a module that one beside it imports by its bare name."""
    text = read_regular(file.path, LARGEST_CODE)
    if RELATIVE.search(text) or file.is_package:
        return False
    return bool(RUNS.search(text)) or file.relative in layout.imported_beside


def with_key(written: Written, key: str) -> Written:
    """Marked with what it was made from."""
    record = replace(written.record, key=key, helpers=tuple(sorted(written.compat)))
    return replace(written, record=record)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
