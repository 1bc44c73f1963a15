"""What an earlier `migrate` left: its state file, and digests by which a later one knows what still holds."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from . import artifacts
from .artifacts import STATE, ProjectConversion
from .errors import MindferryError
from .files import read_regular, remove_abandoned, write_text


def tidy(output: Path) -> None:
    """Remove what a killed run left half-written, also where every stage that would write there is done."""
    for folder in (output, output / STATE):
        remove_abandoned(folder)


def made(output: Path, stage: str, archive: Path) -> str:
    """Digest of what a stage left: what was edited since is not what was measured."""
    if stage == "convert" and (output / STATE / "unfinished.json").is_file():
        return "begun again, and interrupted"
    return file_digest(archive if stage == "observe" else output / STATE / f"{stage}.json")


def converted_code(output: Path) -> str:
    """Digest of the converted project as it is now, whoever wrote it."""
    try:
        files = artifacts.load(ProjectConversion, output, "convert").files
    except MindferryError:
        return ""
    return digest(*(f"{each.path}:{file_digest(output / each.path)}" for each in files if each.digest))


def file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest()
    except OSError:
        return "unreadable"


def digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def read_state(output: Path) -> dict[str, dict[str, Any]]:
    try:
        state = json.loads(read_regular(output / STATE / "migrate.json"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = state.items() if isinstance(state, dict) else ()
    return {stage: entry for stage, entry in entries if _is_entry(entry)}


def _is_entry(entry: Any) -> bool:
    """Whether a stage's entry is one that write_state() made: anything else is as good as none."""
    is_told = isinstance(entry, dict) and isinstance(entry.get("ok"), bool)
    return is_told and all(isinstance(entry.get(name), str) for name in ("key", "summary"))


def write_state(output: Path, stage: str, entry: dict[str, Any]) -> None:
    write_text(output / STATE / "migrate.json", json.dumps({**read_state(output), stage: entry}, indent=1))
