"""Libraries that come along with a project: read and converted by themselves, so that the next project finds them done."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .. import findings
from ..apis.torch._packages import need_of_torch
from ..apis.torch._served import SERVED_PARTS
from ..artifacts import FileConversion
from ..as_json import build, laid_out
from ..as_json import plain as as_plain
from ..files import write_bytes
from ..layout import Layout, Sources, read_symbols, read_symbols_on
from ..library.applications import KERAS, Applications, bring_applications
from ..library.bring import Brought, bring
from ..library.cache import cache_folder
from ..library.own_package import FOLDER
from ..observation import Observation
from ..read.symbols import Symbols
from .one_file import Written, digest, with_key
from .pool import convert_files, quietly
from .reuse import facts_digest, file_key
from .settings import Settings

STAYS = (findings.MF900, findings.MF901)  # a file that is left as it was


@dataclass(frozen=True, slots=True)
class Libraries:
    """What is brought along, read."""

    brought: Brought
    symbols: Symbols
    layout: Layout  # of the libraries' files alone
    facts: str

    def read_project(self, layout: Layout, observation: Observation | None, sources: Sources) -> Symbols:
        """The project on top of its libraries."""
        symbols = self.symbols.fork()
        symbols.served = SERVED_PARTS
        with quietly():
            return read_symbols_on(symbols, layout, observation, sources)


def bring_libraries(layout: Layout, settings: Settings, observation: Observation | None) -> Libraries | None:
    """None where the project asked for none."""
    packages = tuple(name for name in settings.packages if name not in KERAS)
    if not packages:
        return None
    sites = tuple(map(Path, settings.sites))
    with quietly():
        brought = bring(layout, packages, sites, settings.most_modules, is_built_on_torch)
        files = replace(layout, files=brought.files, excluded=(), left_out=())
        symbols = read_symbols(files)
    inner = f"{layout.root.resolve().name}.{FOLDER}" if layout.is_package else FOLDER
    symbols.ported = {each.name: f"{inner}.{each.name}" for each in brought.packages}
    return Libraries(brought, symbols, files, facts_digest(symbols))


def with_applications(layout: Layout, settings: Settings) -> tuple[Layout, Applications | None]:
    """`--with keras`: the files of keras.applications that the project uses are read and converted as its own."""
    if not set(settings.packages) & KERAS:
        return layout, None
    with quietly():
        found = bring_applications(layout, tuple(map(Path, settings.sites)), settings.most_modules)
    return replace(layout, files=(*layout.files, *found.files)), found


def digest_of(libraries: Libraries | None, inputs: str) -> str:
    """Of the project's own inputs and of all that is brought along."""
    if libraries is None:
        return inputs
    names = [f"{each.relative} {each.path.name}" for each in libraries.layout.files]
    return digest("\n".join([inputs, libraries.facts, *names]).encode("utf-8", "surrogateescape"))


def is_built_on_torch(package: str) -> bool:
    return need_of_torch(package) is not None


def convert_libraries(libraries: Libraries, settings: Settings, workers: int) -> Iterator[Written]:
    """Every file of the libraries, from the cache where the same was converted before."""
    plain = replace(settings, packages=(), sites=(), most_modules=0, observed="")
    layout = libraries.layout
    keys = {file: file_key(file, layout, libraries.facts, plain) for file in layout.files}
    ready = {file: found for file, key in keys.items() if (found := _cached(key)) is not None}
    waiting = [file for file in layout.files if file not in ready]
    made = convert_files(waiting, layout, libraries.symbols, plain, workers, Sources())
    for file in layout.files:
        if file not in ready:
            ready[file] = with_key(as_library(next(made)), keys[file])
            _remember(keys[file], ready[file])
        yield ready[file]


def as_library(written: Written) -> Written:
    """Much of a library is never reached by the project: what has no counterpart there is no error until it is used.

    A file that stays as it was is one: it still imports torch.
    """
    found = tuple(
        each if each.severity == "note" or each.code in STAYS else replace(each, severity="note")
        for each in written.record.findings
    )
    return Written(replace(written.record, findings=found), written.data, written.compat)


def plain_files(libraries: Libraries | None, applications: Applications | None) -> list[Written]:
    """Licences and the like, and what has to be said about the whole."""
    made: dict[str, Written] = {}
    for each in (libraries.brought if libraries is not None else None, applications):
        for relative, data in each.plain.items() if each is not None else ():
            found = each.findings if each is not None and relative.endswith("NOTICE.md") else ()
            made[relative] = Written(FileConversion(relative, "library", digest(data), (), found), data, set())
    return list(made.values())


@dataclass(frozen=True, slots=True)
class Kept:
    """A converted module as the cache holds it."""

    record: FileConversion
    text: str
    compat: tuple[str, ...]


def _cached(key: str) -> Written | None:
    if not key:
        return None
    try:
        kept: Kept = build(Kept, json.loads((cache_folder() / "converted" / key[:2] / f"{key}.json").read_bytes()))
    except Exception:  # whatever stands there is only a cache
        return None
    return Written(kept.record, kept.text.encode("utf-8"), set(kept.compat))


def _remember(key: str, written: Written) -> None:
    if not key or written.record.status == "failed":
        return
    with contextlib.suppress(Exception):  # a cache that can't be written is none
        kept = Kept(written.record, written.content().decode("utf-8"), tuple(sorted(written.compat)))
        path = cache_folder() / "converted" / key[:2] / f"{key}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, laid_out(as_plain(kept)).encode("utf-8"))
