"""A folder in which a project's command may run and write: small files are copies, large ones links, neighbours are in reach."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

SMALL = 2**20  # bytes; larger files are linked, not copied
CROWDED = 1000  # entries; a folder with more of them is linked as a whole
LEVELS = 2  # of folders above the project whose entries are in reach: ../data, ../../data
SKIPPED = {".git", ".hg", ".svn", "__pycache__", ".venv", "venv", ".mindferry", ".tox", ".mypy_cache", ".pytest_cache"}
CODE = {".py", ".ipynb", ".pyc"}


def mirror(project: Path, scratch: Path, code: Path | None = None, without: Collection[str] = ()) -> Path:
    """A copy of the project in `scratch`, at the same place among its neighbours; `without` names files to leave out.

    With `code`, a converted project, its files take the place of the original's, whose data come along.
    """
    project = project.resolve()
    neighbours: list[tuple[Path, Path]] = []
    folder = scratch.resolve()
    for above in reversed(list(project.parents)[:LEVELS]):
        neighbours.append((above, folder))
        folder = folder / (project.parent.name or "root") if above != project.parent else folder / project.name
        folder.mkdir(parents=True, exist_ok=True)
    avoided = {project, scratch.resolve(), *([code.resolve()] if code else []), *(project / each for each in without)}
    if code is not None:
        _copy(code.resolve(), folder, {code.resolve() / each for each in without}, set())
    _copy(project, folder, avoided - {project}, CODE if code else set())
    for above, into in neighbours:
        _link_neighbours(above, into, avoided)
    return folder


def _copy(source: Path, target: Path, avoided: set[Path], without: set[str]) -> None:
    """What `target` doesn't hold yet."""
    for entry in sorted(source.iterdir()):
        place = target / entry.name
        if entry.name in SKIPPED or entry in avoided or entry.suffix in without:
            continue
        if entry.is_dir() and not entry.is_symlink():
            if not place.exists() and sum(1 for _ in entry.iterdir()) > CROWDED:
                place.symlink_to(entry)
            elif not place.is_symlink():
                place.mkdir(exist_ok=True)
                _copy(entry, place, avoided, without)
        elif not os.path.lexists(place):
            if entry.is_file() and not entry.is_symlink() and entry.stat().st_size <= SMALL:
                shutil.copy2(entry, place)
            elif entry.exists():
                place.symlink_to(entry.resolve())


def listed(folder: Path, prefix: str = "") -> Iterator[str]:
    """The files and folders that a project holds, as relative paths; what is in a crowded folder is not told."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries if len(entries) <= CROWDED else []:
        if entry.name not in SKIPPED:
            yield f"{prefix}{entry.name}"
        if entry.is_dir() and not entry.is_symlink() and entry.name not in SKIPPED:
            yield from listed(entry, f"{prefix}{entry.name}/")


def link_entries(folder: Path | None, into: Path, is_code_wanted: bool = True) -> None:
    """Links to what `folder` holds and `into` does not; a crowded folder, such as /tmp, not beyond its first entries.

    Of a folder of data that two projects have, both parts are there.
    """
    try:
        entries = sorted(folder.iterdir()) if folder is not None else []
    except OSError:
        return
    for entry in entries[:CROWDED]:
        place = into / entry.name
        if (is_code_wanted or entry.suffix not in CODE) and not os.path.lexists(place):
            place.symlink_to(entry)
        elif place.is_symlink() and _is_data_folder(entry) and _is_data_folder(place):
            first = place.resolve()
            if first != entry.resolve():
                place.unlink()
                place.mkdir()
                link_entries(first, place)
                link_entries(entry, place)


def _is_data_folder(path: Path) -> bool:
    """Also not a crowded one."""
    try:
        entries = [*path.iterdir()] if path.is_dir() else []
    except OSError:
        return False
    return 0 < len(entries) <= CROWDED and not any(entry.suffix in CODE for entry in entries)


def _link_neighbours(above: Path, into: Path, avoided: set[Path]) -> None:
    try:
        entries = sorted(above.iterdir())
    except OSError:
        return
    for entry in entries[:CROWDED]:
        place = into / entry.name
        if entry not in avoided and not os.path.lexists(place):
            place.symlink_to(entry)
