"""Jupyter notebooks: the code cells are converted together, as one module, and handed back cell by cell.

Magics (`%matplotlib`, `!pip`, `obj?`) stand in the module as comments and come back as they were; those that run the rest of
their line (`%time net(x)`) stand behind it, and come back in front of what it became. A cell that changed loses its outputs and
its execution count, since they are those of other code.
"""

from __future__ import annotations

import ast
import bisect
import itertools
import json
import re
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ... import findings
from ...apis import table
from ...artifacts import Finding
from ...frameworks.watch.mindferry_watch.notebook import timed_code
from ...read.infer import read
from ...read.source import Source, Unreadable
from ...read.symbols import Symbols
from ..engine import FileResult, convert_file
from ..settings import Settings
from .imports import HelpersImport

PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%memit")  # what follows the first line is Python
_ASSIGNED = re.compile(r"[\w.,\s]+=\s*[%!]")  # `files = !ls`
_BARE_MAGIC = re.compile(  # `cd data`, `pip install x`: IPython takes some commands without a mark
    r"(?:cd|ls|ll|mkdir|rmdir|rm|cp|mv|cat|less|more|man|pip|conda|mamba|run|load|env|time|timeit)\s+[^\s=(,.\[]"
)
_FUTURE = re.compile(r"from __future__ import \w[\w, ]*$")
_INSTALL = re.compile(r"\b(?:pip3?|conda|mamba)\s+install\b")
_TORCH = re.compile(r"\b(?:torch|torchvision|pytorch)\b")
_WORD = re.compile(r"mindferry_(\d{1,9})")


_TIMED = re.compile(r"(?:[^%#'\"]*[^%#'\"\s][ \t]*=[ \t]*)?%(?:time|timeit|prun|memit|mprun|lprun)[ \t].*\btorch\.\w")

MANY_MAGICS = 20  # lines; finding so many one after another would parse the cell as often
MOST_PARSED = 20_000_000  # letters: a cell is parsed once for each of its magics


@dataclass(slots=True)
class Marks:
    """The comments that stand for cells and magics in the common module: by a word that no cell holds."""

    word: str
    magics: list[str] = field(default_factory=list)  # what each stands for

    @classmethod
    def for_cells(cls, cells: list[Cell]) -> Marks:
        if not any("mindferry" in cell.text for cell in cells):
            return cls("mindferry")
        taken = {int(number) for cell in cells for number in _WORD.findall(cell.text)}
        return cls(f"mindferry_{next(number for number in itertools.count(1) if number not in taken)}_")

    def cell(self, number: int) -> str:
        return f"# {self.word} cell {number}\n"

    def magic(self, line: str) -> str:
        self.magics.append(line)
        return f"# {self.word} magic {len(self.magics) - 1}"

    def prefixed(self, prefix: str, code: str) -> str:
        self.magics.append(prefix)
        return f"{code}  # {self.word} prefix {len(self.magics) - 1}"

    def restored(self, text: str) -> str:
        code_first = rf"^([ \t]*)(.*?)[ \t]*# {self.word} prefix (\d+)$"
        text = re.sub(code_first, lambda m: f"{m[1]}{self.magics[int(m[3])]}{m[2] or 'pass'}", text, flags=re.MULTILINE)
        pattern = rf"(?:pass  )?# {self.word} magic (\d+)(?!\d)"
        return re.sub(pattern, lambda match: self.magics[int(match.group(1))], text)

    def split(self, code: str) -> dict[int, str]:
        """Text by cell number. What an import needs at the very top goes into the first cell."""
        parts = re.split(rf"^# {self.word} cell (\d+)\n", code, flags=re.MULTILINE)
        texts = {int(number): text for number, text in zip(parts[1::2], parts[2::2], strict=True)}
        if parts[0].strip() and texts:
            first = min(texts)
            texts[first] = parts[0] + texts[first]
        return {number: self.restored(text) for number, text in texts.items()}


@dataclass(slots=True)
class Cell:
    """A code cell: its place in the notebook, its text, and what it becomes in the common module."""

    number: int  # from 1, all cells counted
    text: str
    masked: str = ""
    first_line: int = 0  # of the masked text in the module
    findings: list[Finding] = field(default_factory=list)


def convert_notebook(
    raw: bytes, path: str, symbols: Symbols, helpers: HelpersImport, settings: Settings
) -> tuple[bytes, FileResult]:
    """The converted notebook, and what was done to it. Findings name the cell: `net.ipynb:cell 3:2:5`."""
    encoding, body = _load(raw)
    cells = [
        Cell(number, _text(each)) for number, each in enumerate(body["cells"], 1) if each.get("cell_type") == "code"
    ]
    if not _is_python(body):
        return raw, FileResult("", [], [], set())
    marks = Marks.for_cells(cells)
    pieces, line = [], 1
    for cell in cells:
        cell.masked = _mask(cell, path, marks)
        cell.first_line = line + 1
        pieces += [marks.cell(cell.number), cell.masked.rstrip("\n") + "\n"]
        line = cell.first_line + pieces[-1].count("\n")
    source = Source("".join(pieces), path)
    read(source, symbols, is_api=table(symbols.framework.name).is_api)
    result = convert_file(source, symbols, helpers=helpers, settings=settings, is_notebook=True)
    texts = marks.split(result.code)
    if set(texts) != {cell.number for cell in cells}:
        raise ValueError("a cell's beginning was lost")
    is_changed = False
    for cell in cells:
        if texts[cell.number].rstrip("\n") != marks.restored(cell.masked).rstrip("\n"):
            ending = cell.text[len(cell.text.rstrip("\r\n")) :]
            text = texts[cell.number].rstrip("\n")
            text = text.replace("\n", "\r\n") if "\r\n" in cell.text else text
            _replace(body["cells"][cell.number - 1], text + ending)
            is_changed = True
    findings = [each for cell in cells for each in cell.findings] + [
        _in_cell(each, cells, path) for each in result.findings
    ]
    rewrites = [replace(each, line=_place(each.line, cells)[1]) for each in result.rewrites]
    sites = [replace(each, line=_place(each.line, cells)[1]) for each in result.sites]
    changed = _dump(body, raw, encoding) if is_changed else raw
    return changed, FileResult("", rewrites, findings, result.compat, sites)


def _load(raw: bytes) -> tuple[str, dict[str, Any]]:
    """The notebook, and the encoding that it is in: Jupyter writes UTF-8, and editors write UTF-16."""
    try:
        encoding = json.detect_encoding(raw)
        body = json.loads(raw.decode(encoding))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not a notebook: {error}") from None
    cells = body.get("cells") if isinstance(body, dict) else None
    if not isinstance(cells, list) or not all(
        isinstance(each, dict) and _is_text(each.get("source", "")) for each in cells
    ):
        raise Unreadable("not a notebook of format 4; open and save it with Jupyter first")
    return encoding, cast(dict[str, Any], body)


def _is_text(source: object) -> bool:
    """Whether it is a text, or the lines of one."""
    return isinstance(source, str) or (isinstance(source, list) and all(isinstance(line, str) for line in source))


def _is_python(body: dict[str, Any]) -> bool:
    metadata = body.get("metadata")
    info = metadata.get("language_info") or metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = (
        info.get("name" if "language" not in info else "language", "python") if isinstance(info, dict) else "python"
    )
    return str(language).lower().startswith(("python", "ipython"))


def _text(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def _mask(cell: Cell, path: str, marks: Marks) -> str:
    """The cell with comments in place of magics; all of it if it is not Python."""
    text = cell.text.replace("\r\n", "\n")
    head = text.lstrip().partition("\n")[0]
    for number, line in enumerate(text.splitlines(), 1):
        if (asked := _INSTALL.search(line)) and _TORCH.search(line, asked.end()):
            cell.findings.append(
                Finding(
                    findings.MF151,
                    "warning",
                    f"{path}:cell {cell.number}",
                    number,
                    1,
                    f"still installs torch: {line.strip()}",
                    "install mindspore instead",
                )
            )
        if "%" in line and _TIMED.match(bare := line.strip()) and timed_code(bare) is None:
            said, where = f"a magic runs code that is not read: {line.strip()}", f"{path}:cell {cell.number}"
            advice = "write the code in a line of its own"
            cell.findings.append(Finding(findings.MF102, "error", where, number, 1, said, advice))
    if head.startswith("%%") and not head.split()[0].startswith(PYTHON_CELLS):
        return _hidden(text, marks)
    lines = [_code_first(line, marks) for line in text.split("\n")]
    for number, line in enumerate(lines):
        if _FUTURE.match(line):  # may begin any cell, but only the first line of a module
            _hide_line(lines, number, marks)
    if (masked := _masked_at_once(lines, marks)) is not None:
        return masked
    for _ in range(min(len(lines), MOST_PARSED // (len(text) + 1)) + 1):
        try:
            ast.parse("\n".join(lines))
            return "\n".join(lines)
        except (ValueError, RecursionError, MemoryError) as error:
            what = type(error).__name__ if isinstance(error, UnicodeError) else str(error) or "nested too deeply"
            cell.findings.append(_unreadable(path, cell, f"cannot be parsed: {what}"))
            break
        except SyntaxError as error:
            at = _magic_line(lines, error.lineno or 1, marks)
            if at is None:
                place = error.lineno or 1, error.offset or 1
                cell.findings.append(_unreadable(path, cell, f"not valid Python 3: {error.msg}", place))
                break
            _hide_line(lines, at, marks)
    else:
        cell.findings.append(_unreadable(path, cell, "it has too many magics to be read as Python"))
    return _hidden(text, marks)


def _code_first(line: str, marks: Marks) -> str:
    """`%time net(x)` as Python, with the magic behind it."""
    bare = line.lstrip()
    timed = timed_code(bare) if bare.startswith("%") else None
    return line if timed is None else line[: len(line) - len(bare)] + marks.prefixed(*timed)


def _unreadable(path: str, cell: Cell, message: str, place: tuple[int, int] = (1, 1)) -> Finding:
    advice = "mend the cell and convert again; it stays as it is"
    return Finding(findings.MF900, "error", f"{path}:cell {cell.number}", *place, message, advice)


def _is_magic(line: str) -> bool:
    """Whether IPython may read the line otherwise than Python: `%time`, `!ls`, `obj?`, `files = !ls`, `cd data`."""
    bare = line.strip()
    is_marked = bare.startswith(("%", "!", "?")) or bare.endswith("?")
    return is_marked or _ASSIGNED.match(bare) is not None or _BARE_MAGIC.match(bare) is not None


def _masked_at_once(lines: list[str], marks: Marks) -> str | None:
    """A cell with many lines that begin as magics do, with all of them hidden, if that is Python."""
    begins = [
        (line.lstrip().startswith(("%", "!")) or _ASSIGNED.match(line) is not None) and not line.rstrip().endswith("\\")
        for line in lines
    ]
    if sum(begins) < MANY_MAGICS:
        return None
    before, hidden = len(marks.magics), []
    for line, is_magic in zip(lines, begins, strict=True):
        indent = line[: len(line) - len(line.lstrip())]
        hidden.append(f"{indent}pass  {marks.magic(line[len(indent) :])}" if is_magic else line)
    try:
        ast.parse("\n".join(hidden))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        del marks.magics[before:]
        return None
    return "\n".join(hidden)


def _magic_line(lines: list[str], reported: int, marks: Marks) -> int | None:
    """The line of a magic at or above the place where parsing stopped."""
    for at in range(min(reported, len(lines)) - 1, -1, -1):
        if _is_magic(lines[at]) and f"# {marks.word} magic" not in lines[at]:
            return at
        if lines[at].strip() and at < reported - 2:
            break
    return None


def _hide_line(lines: list[str], at: int, marks: Marks) -> None:
    last = at
    while lines[last].endswith("\\") and last + 1 < len(lines):
        last += 1
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    for index in range(at, last + 1):
        mark = marks.magic(lines[index] if index > at else lines[index][len(indent) :])
        lines[index] = f"{indent}pass  {mark}" if index == at else mark


def _hidden(text: str, marks: Marks) -> str:
    return "\n".join(map(marks.magic, text.rstrip("\n").split("\n")))


def _replace(cell: dict[str, Any], text: str) -> None:
    cell["source"] = text if isinstance(cell.get("source"), str) else text.splitlines(keepends=True)
    if "outputs" in cell:
        cell["outputs"] = []
    if "execution_count" in cell:
        cell["execution_count"] = None


def _place(line: int, cells: list[Cell]) -> tuple[int, int]:
    """(cell, line in it) of a line of the module."""
    cell = cells[max(bisect.bisect_right(cells, line, key=lambda each: each.first_line) - 1, 0)]
    return cell.number, max(line - cell.first_line + 1, 1)


def _in_cell(finding: Finding, cells: list[Cell], path: str) -> Finding:
    number, line = _place(finding.line, cells)
    return replace(finding, path=f"{path}:cell {number}", line=line)


def _dump(body: dict[str, Any], raw: bytes, encoding: str) -> bytes:
    """JSON laid out as the file was: Jupyter indents by one space, others by two, some not at all."""
    before = raw.decode(encoding)
    indent = re.match(r"\s*\{\r?\n([ \t]*)", before)
    width = indent.group(1) if indent else None
    is_tight = '":"' in before or '":[' in before
    separators = (",", ": ") if width is not None else ((",", ":") if is_tight else (", ", ": "))
    text = json.dumps(body, indent=width, ensure_ascii=before.isascii(), separators=separators)
    text += "\n" if before.endswith("\n") else ""
    return text.encode(encoding, "surrogatepass")
