"""Which files need not be converted again: same text, same project around it, same settings, same mindferry."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import astuple
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ..artifacts import FileConversion, ProjectConversion
from ..errors import MindferryError
from ..files import place_in, read_regular
from ..layout import Layout, ProjectFile
from ..read.handed_functions import given_to_slots
from ..read.symbols import Symbols
from .one_file import Written, digest, helper_home
from .settings import Settings

CODE = ("convert", "apis", "read", "library", "layout.py")  # of mindferry: what a conversion depends on


def inputs_digest(layout: Layout, settings: Settings) -> str:
    """Of everything that decides what the project's code means."""
    parts = [_own_digest(), repr(settings), repr(sorted(file.relative for file in layout.excluded))]
    for file in layout.files:
        if file.is_code:
            parts += [file.relative, _digest_of(file.path)]
    return digest("\n".join(parts).encode("utf-8", "surrogateescape"))


def facts_digest(symbols: Symbols) -> str:
    """Of what is known about the project as a whole. A change inside a function often leaves it as it was."""
    classes = {qual: (each.bases, each.attributes, each.results) for qual, each in symbols.classes.items()}
    facts = [
        classes,
        dict(symbols.results),
        dict(symbols.exports),
        dict(symbols.stars),
        symbols.arguments,
        sorted(symbols.excluded),
        symbols.sets_inner_mode,
        symbols.runs_networks,
        symbols.draws_host_numbers,
        symbols.differentiates_arguments,
        sorted(symbols.roots),
        sorted(symbols.mentioned),
        sorted(symbols.beside),
        sorted(symbols.unsure),
        sorted(symbols.writing),
        sorted(symbols.clearing),
        sorted(map(astuple, symbols.differentiated)),
        sorted(symbols.called_with_losses),
        sorted(symbols.plain),
        sorted(symbols.array_names),
        sorted(symbols.listed),
        symbols.selections.as_row(),
        symbols.ported,
        symbols.served,
        sorted(symbols.collates),
        sorted(symbols.collate_slots, key=repr),
        sorted(given_to_slots(symbols)),
        sorted(symbols.container_uses),
        sorted(symbols.thawing),
        sorted(symbols.transforms),
        sorted(symbols.computing),
    ]
    second = facts_digest(symbols.second) if symbols.second is not None else ""
    return digest(json.dumps(facts).encode("utf-8") + second.encode())


def file_key(file: ProjectFile, layout: Layout, facts: str, settings: Settings) -> str:
    """Of everything that one file's conversion depends on."""
    try:
        parts = [
            _own_digest(),
            repr(settings),
            facts,
            file.relative,
            file.module,
            repr(helper_home(layout, file)[1]),
            _digest_of(file.path),
        ]
    except OSError:
        return ""
    return digest("\n".join(parts).encode("utf-8", "surrogateescape"))


def reusable(key: str, record: FileConversion | None, output: Path) -> Written | None:
    """What an earlier run wrote, if it was made from the same and still stands there."""
    if record is None or not key or record.key != key:
        return None
    try:
        path = place_in(output, record.path)
        is_same = digest(read_regular(path)) == record.digest
    except (OSError, MindferryError):
        return None
    return Written(record, path, set(record.helpers)) if is_same else None


def records_of(previous: ProjectConversion | None) -> dict[str, FileConversion]:
    return {file.path: file for file in previous.files} if previous else {}


@functools.cache
def _own_digest() -> str:
    whole = hashlib.sha256()
    root = files("mindferry")
    for name in CODE:
        _add(root.joinpath(name), whole)
    return whole.hexdigest()


def _add(item: Traversable, whole: hashlib._Hash) -> None:
    if item.is_file():
        if item.name.endswith((".py", ".tsv")):
            whole.update(item.name.encode() + item.read_bytes())
    else:
        for child in sorted(item.iterdir(), key=lambda each: each.name):
            _add(child, whole)


def _digest_of(path: Path) -> str:
    try:
        return digest(read_regular(path))
    except OSError:
        return ""
