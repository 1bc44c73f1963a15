"""Every file before and after, with the rules that rewrote it and the findings that are left in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..apis import table
from ..apis._lookup import rule_of
from ..artifacts import FileConversion, Finding, Rewrite
from ..files import is_inside, read_regular
from .gather import SLACK, Found
from .lines import Step, steps

LARGEST = 2**20  # bytes of a file that is shown
TEXTS = (".py", ".ipynb", ".txt", ".toml", ".cfg", ".yml", ".yaml", ".md", ".sh")
LEFT_OUT = "not converted"  # a file that the analysis speaks of and the conversion leaves out


@dataclass(frozen=True, slots=True)
class Mark:
    """A rewrite on the page: (line, column, length) on either side, from 0; length 0: not found on that side."""

    rule: str
    left: tuple[int, int, int]
    right: tuple[int, int, int]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Sides:
    path: str
    status: str  # as in FileConversion, or LEFT_OUT
    note: str
    before: tuple[str, ...]
    after: tuple[str, ...]  # only the lines that are not equal to those before: `steps` says where they go
    steps: tuple[Step, ...]
    marks: tuple[Mark, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class RuleCard:
    """What hovering over a rewrite tells."""

    becomes: str
    kind: str
    differs: str


def sides(found: Found) -> list[Sides]:
    """The files that hold text, those with findings first mentioned as they stand in the project."""
    if found.convert is None:
        return [_left_out(found, path) for path in _analyzed(found) if _is_shown(path)]
    files = [
        _sides(found, file) for file in found.convert.files if _is_shown(file.path) or file.rewrites or file.findings
    ]
    known = {file.path for file in found.convert.files}
    return files + [_left_out(found, path) for path in _analyzed(found) if path not in known and _is_shown(path)]


def rule_cards(files: Sequence[Sides]) -> dict[str, RuleCard]:
    names = sorted(
        {mark.rule for file in files for mark in file.marks}
        | {each.rule for file in files for each in file.findings} - {""}
    )
    rules = table()
    cards = {}
    for name in names:
        rule = rule_of(name, rules) or rules.attribute(name)
        if rule is not None:
            cards[name] = RuleCard(rule.to, rule.kind, rule.differs or rule.missing)
    return cards


def _analyzed(found: Found) -> list[str]:
    if found.analyze is None:
        return []
    inventory = found.analyze
    places = (*inventory.dynamic, *inventory.special, *inventory.features)
    paths = (
        [use.path for use in inventory.apis]
        + [place.path for place in places]
        + [part.path for part in inventory.parts]
    )
    paths += [trick.path for trick in inventory.tricks] + [finding.path for finding in inventory.findings]
    return sorted({*paths, *inventory.torch_files})


def _is_shown(path: str) -> bool:
    return path.endswith(".py") or Path(path).name == "requirements.txt"


def _sides(found: Found, file: FileConversion) -> Sides:
    root = found.source
    source, target = (root / file.path if root else None), found.folder / file.path
    is_text = target.suffix in TEXTS  # a record may be forged, and the page is mailed: it shows no other files
    before = _lines(source) if is_text and file.status != "helpers" else []
    after = _lines(target) if is_text else []
    note = _note(found, file, source, before, after)
    walk = steps(before, after)
    return Sides(
        file.path,
        file.status,
        note,
        tuple(before),
        tuple(_changed(walk, after)),
        tuple(walk),
        tuple(_marks(file.rewrites, before, after, walk)),
        file.findings,
    )


def _note(found: Found, file: FileConversion, source: Path | None, before: list[str], after: list[str]) -> str:
    if file.status == "helpers":
        return "written by mindferry: torch's meaning where MindSpore has none"
    if source and not source.is_file():
        return f"the torch source is no longer at {source}"
    if source and _is_newer(source, found):
        return "the torch source was edited after it was converted: lines may not match"
    if not before and not after and source and source.stat().st_size > LARGEST:
        return "larger than 1 MB, so its text is not shown"
    return ""


def _left_out(found: Found, path: str) -> Sides:
    before = _lines(found.source / path if found.source and is_inside(path) else None)
    findings = tuple(each for each in found.analyze.findings if each.path == path) if found.analyze else ()
    note = "" if before else "its source is not there any more"
    return Sides(path, LEFT_OUT, note, tuple(before), (), tuple(steps(before, ())), (), findings)


def _lines(path: Path | None) -> list[str]:
    try:
        return read_regular(path, LARGEST).decode("utf-8", "replace").splitlines() if path is not None else []
    except (OSError, ValueError):
        return []


def _is_newer(source: Path, found: Found) -> bool:
    try:
        return source.stat().st_mtime > found.written.get("convert", 0.0) + SLACK
    except OSError:
        return False


def _changed(walk: Sequence[Step], after: Sequence[str]) -> Iterator[str]:
    line = 0
    for kind, _, count in walk:
        if kind != "=":
            yield from after[line : line + count]
        line += count


def _marks(
    rewrites: Sequence[Rewrite], before: Sequence[str], after: Sequence[str], walk: Sequence[Step]
) -> Iterator[Mark]:
    """A rewrite is looked for in its block of changed lines, from where the last equal one was found."""
    blocks = _blocks(walk)
    taken: set[tuple[int, int, str]] = set()
    for each in rewrites:
        if not 1 <= each.line <= len(before):
            continue  # a record that was edited, or a file that is shorter by now
        left = _locate(each.before, before, each.line - 1, each.line, each.column - 1)
        right = (0, 0, 0)
        for low, high, start, end in blocks:
            if low < each.line <= high:
                right = _free(
                    each.after, after, start + each.line - 1 - low if high - low == end - start else start, end, taken
                )
                break
        yield Mark(each.rule, left, right, each.before, each.after)


def _blocks(walk: Sequence[Step]) -> list[tuple[int, int, int, int]]:
    """(first left line, end, first right line, end) of runs of equal and of changed lines."""
    result: list[tuple[int, int, int, int]] = []
    i = j = 0
    was_equal = True
    for kind, left, right in walk:
        is_equal = kind == "="
        if result and not is_equal and not was_equal:
            low, _, start, _ = result.pop()
        else:
            low, start = i, j
        i, j, was_equal = i + left, j + right, is_equal
        result.append((low, i, start, j))
    return result


def _locate(text: str, lines: Sequence[str], line: int, end: int, column: int) -> tuple[int, int, int]:
    first = text.split("\n", 1)[0]
    for number in range(line, min(end, len(lines))):
        at = lines[number].find(first, column)
        at = at if at >= 0 else lines[number].find(first)
        if first and at >= 0:
            return number, at, len(first)
    return line, 0, 0


def _free(
    text: str, lines: Sequence[str], start: int, end: int, taken: set[tuple[int, int, str]]
) -> tuple[int, int, int]:
    """The first place of `text` that no equal rewrite has taken."""
    first = text.split("\n", 1)[0]
    for number in range(start, min(end, len(lines)) if first else start):
        at = lines[number].find(first)
        while at >= 0:
            if (number, at, first) not in taken:
                taken.add((number, at, first))
                return number, at, len(first)
            at = lines[number].find(first, at + 1)
    return start, 0, 0
