"""The output folder: only what mindferry wrote there is written again, and what was edited since is kept.

Before the first file, `.mindferry/unfinished.json` says what is about to be written: a run that was interrupted is told
by it from a folder of somebody else's, and the next run finishes it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from .. import findings
from ..artifacts import STATE, FileConversion, Finding, ProjectConversion, load, save
from ..errors import MindferryError, brief
from ..files import alone_in, is_inside, place_in, read_regular, remove, remove_abandoned, write_bytes
from ..layout import empty_folders
from .one_file import Written, digest
from .reuse import records_of

STAGE = "convert"
UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a run is about to write. Each path has the digests of all that mindferry may have left there."""

    source: str
    digests: dict[str, tuple[str, ...]] = field(default_factory=dict)


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
    if (output / STATE).is_symlink():
        raise MindferryError(f"{output / STATE} is a link, and nothing is written through links; remove it")
    unfinished = _unfinished(output)
    if unfinished is not None:
        _check_source(unfinished.source, path, output)
    if not (output / STATE / f"{STAGE}.json").is_file():
        if unfinished is not None or {each.name for each in output.iterdir()} <= {STATE}:
            return None
        raise MindferryError(f"{output} already holds something else; give an empty or new folder with -o")
    previous = _recorded(output)
    _check_source(previous.source, path, output)
    return previous


def _recorded(output: Path) -> ProjectConversion:
    try:
        return load(ProjectConversion, output, STAGE)
    except MindferryError as error:
        raise MindferryError(f"{error}; or give another folder with -o, or remove {output}") from None


def _check_source(source: str, path: Path, output: Path) -> None:
    if source != str(path.resolve()) and not _is_same(source, path):
        raise MindferryError(f"{output} holds the conversion of {brief(source)}; give another folder with -o")


def _is_same(source: str, path: Path) -> bool:
    try:
        return Path(source).resolve() == path.resolve()
    except (OSError, ValueError):  # no path at all: the record is damaged
        return False


def _unfinished(output: Path) -> Unfinished | None:
    """What an interrupted run had begun to write."""
    if not (output / STATE / f"{UNFINISHED}.json").is_file():
        return None
    found = load(Unfinished, output, UNFINISHED)
    if not all(is_inside(path) for path in found.digests):
        raise MindferryError(f"{output / STATE / UNFINISHED}.json names files outside of {output}; remove it")
    return found


def write_output(
    output: Path, result: ProjectConversion, written: list[Written], previous: ProjectConversion | None
) -> ProjectConversion:
    with alone_in(output / STATE, str(output)):
        again = previous_conversion(Path(result.source), output)  # another run may have been here meanwhile
        previous = again if again is not None else previous
        known = _known(previous, _unfinished(output))
        save(_plan(result, written, known), output, UNFINISHED)
        records = [_write(output, each, known.get(each.record.path, ())) for each in written]
        current = {record.path for record in records}
        records += [
            left for path in known if path not in current and (left := _remove(output, path, known[path])) is not None
        ]
        result = replace(result, files=tuple(records))
        save(result, output, STAGE)
        remove(output / STATE / f"{UNFINISHED}.json")
        _clean(output, current)
        _make_folders(Path(result.source), output, records)
    return result


def _known(previous: ProjectConversion | None, unfinished: Unfinished | None) -> dict[str, tuple[str, ...]]:
    """By path, the digests of what mindferry has written there."""
    known: dict[str, tuple[str, ...]] = {
        path: (record.digest,) for path, record in records_of(previous).items() if record.digest
    }
    for path, digests in (unfinished.digests if unfinished else {}).items():
        known[path] = tuple(dict.fromkeys((*known.get(path, ()), *digests)))
    return known


def _plan(result: ProjectConversion, written: list[Written], known: Mapping[str, tuple[str, ...]]) -> Unfinished:
    new = {each.record.path: each.record.digest for each in written if each.data is not None}
    paths = dict.fromkeys((*known, *new))
    return Unfinished(
        result.source,
        {path: tuple(dict.fromkeys((*known.get(path, ()), *([new[path]] if path in new else [])))) for path in paths},
    )


def _write(output: Path, each: Written, known: tuple[str, ...]) -> FileConversion:
    record = each.record
    if each.data is None:
        return record
    target = place_in(output, record.path)
    current = _digest_of(target)
    if current and current != record.digest and current not in known:
        finding = Finding(
            findings.MF903,
            "warning",
            record.path,
            1,
            1,
            "edited since it was converted, so it was not written again",
            f"move your changes to the original, or remove {target} to have it converted anew",
        )
        kept = known[0] if known else ""
        return replace(record, status="kept", digest=kept, key="", findings=(*record.findings, finding))
    if current != record.digest:
        data = each.content()
        record = record if not isinstance(each.data, Path) else replace(record, digest=digest(data))
        write_bytes(target, data)
    return record


def _remove(output: Path, path: str, known: tuple[str, ...]) -> FileConversion | None:
    """A file whose original is gone goes too, unless it was edited."""
    target = place_in(output, path)
    if not known or not target.is_file() or target.is_symlink():
        return None
    if _digest_of(target) in known:
        with contextlib.suppress(OSError):
            target.unlink()
        return None
    finding = Finding(
        findings.MF904,
        "warning",
        path,
        1,
        1,
        "its original is gone, but it was edited since it was converted, so it stays",
        f"remove {target} if it is no longer needed",
    )
    return FileConversion(path, "kept", known[0], (), (finding,))


def _clean(output: Path, paths: Iterable[str]) -> None:
    """Partial files that killed runs left where this one wrote."""
    for folder in {output / STATE, *((output / path).parent for path in paths)}:
        remove_abandoned(folder)


def _make_folders(project: Path, output: Path, records: list[FileConversion]) -> None:
    """The folders that a script writes into are part of the project, although nothing of theirs was copied."""
    skipped = {str(PurePosixPath(each.path).parent) for each in records if each.status == "skipped"}
    for relative in sorted({*empty_folders(project, output), *skipped} - {"."}):
        with contextlib.suppress(OSError):  # a file of that name, or a path too long: the script says so itself
            place_in(output, f"{relative}/within").parent.mkdir(parents=True, exist_ok=True)


def _digest_of(path: Path) -> str:
    try:
        return digest(read_regular(path)) if os.path.lexists(path) else ""
    except OSError:
        return ""
