"""What the observed run did not reach: lines, files and options of the script about which nothing was measured."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from ..files import is_inside
from ..foreign import tree_of
from ..observation import Observation, SeenFile

SHOWN = 30  # files listed
NAMED = 4  # of a kind, in a sentence


def unreached(observation: Observation, source: Path | None) -> Iterator[tuple[str, int, str]]:
    """(file, first line, what did not run), most lines first."""
    files = sorted(observation.files, key=lambda file: -len(file.unreached))
    for file in [file for file in files if file.unreached][:SHOWN]:
        count = len(file.unreached)
        lines = f"{'line' if count == 1 else 'lines'} {ranges(file.unreached, file.statements)}"
        yield file.path, file.unreached[0], f"{count} of {len(file.statements)} statements did not run: {lines}"
    for path in observation.unloaded[:SHOWN]:
        yield path, 1, "no command imported this file"
    for path, option, line in unused_options(observation, source):
        yield path, line, f"{option} was not given: what it changes has not been measured"


def is_passed_by(observation: Observation | None, path: str, line: int) -> bool:
    """Whether no command ran this place: nobody imported its file, or its statement was not reached."""
    if observation is None or not path:
        return False
    if path in observation.unloaded:
        return True
    file = next((each for each in observation.files if each.path == path), None)
    if file is None:  # a notebook's cells are named after it
        notebook, ending, _ = path.partition(".ipynb")
        given = {word for run in observation.runs for word in run.command}
        return bool(ending) and not any(word.endswith(notebook + ending) for word in given)
    begun = [each for each in file.statements if each <= line]
    return bool(begun) and max(begun) not in file.lines


def not_covered(observation: Observation, source: Path | None) -> str:
    """All of it in a sentence or two; '' where everything ran."""
    missed = sorted((file for file in observation.files if file.unreached), key=lambda file: -len(file.unreached))
    parts = []
    if missed:
        listed = [f"{file.path} {_first(ranges(file.unreached, file.statements).split(', '))}" for file in missed]
        count, total = (sum(len(of) for of in each) for each in zip(*map(_statements, observation.files), strict=True))
        parts.append(f"{count:,} of {total:,} statements did not run ({_first(listed, '; ')})")
    if observation.unloaded:
        were = "files were" if len(observation.unloaded) > 1 else "file was"
        parts.append(f"{len(observation.unloaded)} {were} not imported ({_first(observation.unloaded)})")
    options = [option for _, option, _ in unused_options(observation, source)]
    if options:
        were = "options were" if len(options) > 1 else "option was"
        parts.append(f"{len(options)} {were} not given ({_first(options)})")
    return f"Not covered by this run: {', '.join(parts)}." if parts else ""


def _statements(file: SeenFile) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return file.unreached, file.statements


def _first(listed: Sequence[str], separator: str = ", ") -> str:
    more = f"{separator}…" if len(listed) > NAMED else ""
    return separator.join(listed[:NAMED]) + more


def ranges(lines: Sequence[int], statements: Sequence[int]) -> str:
    """3-5, 9: statements that follow each other stand together."""
    place = {line: index for index, line in enumerate(statements)}
    groups = [[lines[0]]]
    for before, line in pairwise(lines):
        if place[line] == place[before] + 1:
            groups[-1].append(line)
        else:
            groups.append([line])
    return ", ".join(f"{group[0]}-{group[-1]}" if len(group) > 1 else str(group[0]) for group in groups)


def unused_options(observation: Observation, source: Path | None) -> Iterator[tuple[str, str, int]]:
    """Options that a script knows and no command gave."""
    given = {word.partition("=")[0] for run in observation.runs for word in run.command}
    for path in sorted(file.path for file in observation.files if file.path in given):
        tree = tree_of((source or Path()).joinpath(path)) if is_inside(path) else None
        if tree is None:
            continue
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str()), *_]):
                    names = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
                    if names[0].startswith("-") and not given.intersection(names):
                        yield path, names[-1], node.lineno
