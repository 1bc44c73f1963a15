"""The output folder: only what mindferry wrote there is written again, and what was edited since is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from .. import findings
from ..artifacts import STATE, FileConversion, Finding, ProjectConversion, load, save
from ..errors import MindferryError
from ..files import write_bytes
from .one_file import Written, digest
from .reuse import records_of


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


def write_output(
    output: Path, result: ProjectConversion, written: list[Written], previous: ProjectConversion | None
) -> ProjectConversion:
    known = {path: record.digest for path, record in records_of(previous).items()}
    records = [_write(output, each, known.get(each.record.path, "")) for each in written]
    current = {record.path for record in records}
    records += [
        left for path in known if path not in current and (left := _remove(output, path, known[path])) is not None
    ]
    result = replace(result, files=tuple(records))
    save(result, output, "convert")
    return result


def _write(output: Path, each: Written, known: str) -> FileConversion:
    record, target = each.record, output / each.record.path
    if each.data is None:
        return record
    current = _digest_of(target)
    if current and current not in (known, record.digest):
        finding = Finding(
            findings.MF903,
            "warning",
            record.path,
            1,
            1,
            "edited since it was converted, so it was not written again",
            f"move your changes to the original, or remove {target} to have it converted anew",
        )
        return replace(record, status="kept", digest=known, key="", findings=(*record.findings, finding))
    if current != record.digest:
        write_bytes(target, each.data)
    return record


def _remove(output: Path, path: str, known: str) -> FileConversion | None:
    """A file whose original is gone goes too, unless it was edited."""
    target = output / path
    if not known or not target.is_file():
        return None
    if _digest_of(target) == known:
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
    return FileConversion(path, "kept", known, (), (finding,))


def _digest_of(path: Path) -> str:
    return digest(path.read_bytes()) if path.is_file() else ""
