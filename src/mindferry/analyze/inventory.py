"""Project -> Inventory: every table, filled by reading each file once. Nothing of the project is imported or run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .. import findings
from ..apis import table
from ..artifacts import ApiUse, CodeClass, Finding, Inventory, ModuleClass, Part, Place, Port
from ..config import read_config
from ..errors import MindferryError
from ..files import read_regular
from ..layout import (
    LARGEST_CODE,
    SECOND,
    Layout,
    ProjectFile,
    find_files,
    mentions_source,
    read_symbols,
    source_of,
    uses_second,
    uses_torch,
)
from ..progress import Advance
from ..read.infer import read
from ..read.source import Source, Unreadable
from ..read.symbols import Symbols
from .classes import code_classes
from .dynamic import dynamic_shapes
from .effort import Check, with_effort
from .features import features, first_of_each
from .open_sizes import open_sizes
from .pins import packages
from .ports import one_of_each, ports
from .satisfaction import api_uses
from .scan import scan
from .special import native_sources, special_code
from .structure import held, module_classes, parts, settle
from .tricks import Checklist
from .values import Values
from .versions import MEASURED, checked
from .yaml_settings import read_yaml


@dataclass(slots=True)
class _Tables:
    """The tables while files are read."""

    target: str
    version: str  # of MindSpore
    own: str  # the project's folder
    apis: list[ApiUse] = field(default_factory=list)
    modules: list[ModuleClass] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    code: list[CodeClass] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    dynamic: list[Place] = field(default_factory=list)
    special: list[Place] = field(default_factory=list)
    ports: list[Port] = field(default_factory=list)
    features: list[Place] = field(default_factory=list)
    checklist: Checklist = field(default_factory=Checklist)
    values: Values = field(default_factory=Values)
    lines: dict[str, int] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)

    def read(self, file: ProjectFile, symbols: Symbols) -> None:
        """One that can't be read becomes a finding, whatever it raises."""
        try:
            self._read(file, symbols)
        except (Unreadable, OSError, RecursionError, MemoryError) as error:
            line, column = getattr(error, "line", 1), getattr(error, "column", 1)
            message = str(error) or f"cannot be read: {type(error).__name__}"
            self.findings.append(
                Finding(
                    findings.MF900, "error", file.relative, line, column, message, "mend the file and analyze again"
                )
            )
        except Exception as error:
            message = f"mindferry failed on this file ({type(error).__name__}: {str(error)[:200]})"
            advice = "please report this as a bug of mindferry, with the file"
            self.findings.append(Finding(findings.MF901, "error", file.relative, 1, 1, message, advice))

    def _read(self, file: ProjectFile, symbols: Symbols) -> None:
        source = Source(read_regular(file.path, LARGEST_CODE), file.relative)
        self.lines[file.relative] = source.data.count(b"\n")
        is_second = symbols.second is not None and source_of(source.data, symbols.is_first_used) == SECOND
        if symbols.second is not None and is_second:
            symbols = symbols.second
        rules = table(symbols.framework.name)
        reading = read(source, symbols, file.module, file.is_package, rules.is_api)
        seen = scan(reading, file.relative, rules, self.own)
        self.values.collect(seen)
        self.checklist.collect(seen)
        self.apis += api_uses(seen, rules, self.target, self.version)
        self.modules += module_classes(seen)
        self.code += code_classes(seen)
        self.parts += parts(seen)
        self.held |= held(seen)
        self.dynamic += [*dynamic_shapes(seen), *open_sizes(seen)]
        self.special += special_code(seen)
        self.ports += ports(seen)
        self.features += features(seen)

    def inventory(self, path: Path, layout: Layout) -> Inventory:
        return Inventory(
            str(path),
            tuple(file.relative for file in layout.files),
            tuple(file.relative for file in layout.python if mentions_source(file.path)),
            sum(self.lines.values()),
            tuple(self.apis),
            tuple(self.modules),
            tuple(self.findings),
            tuple(self.code),
            tuple(settle(self.parts, self.held)),
            tuple(self.checklist.settle(self.values)),
            tuple(self.dynamic),
            (*self.special, *native_sources(list(layout.files))),
            tuple(one_of_each(self.ports)),
            tuple(first_of_each(self.features)),
            target=f"{self.target}, MindSpore {self.version}",
            packages=tuple(packages(list(layout.files))),
        )


def analyze_project(
    path: Path,
    advance: Advance | None = None,
    *,
    target: str = "CPU",
    mindspore: str = MEASURED,
    check: Check | None = None,
) -> Inventory:
    """Read every file of a project. `check` converts it without writing, to measure the effort instead of estimating it."""
    version = checked(mindspore)
    layout = find_files(path, read_config(path).convert.exclude)
    if not uses_torch(layout) and not uses_second(layout):
        raise MindferryError(f"{path} uses no torch: there is nothing to migrate")
    symbols, tables = read_symbols(layout), _Tables(target, version, layout.root.resolve().name)
    for file in layout.python:
        if advance:
            advance(file.relative)
        tables.read(file, symbols)
    tables.findings += [
        Finding(findings.MF900, "error", each.relative, 1, 1, f"cannot be read: {each.reason}", "make it readable")
        for each in layout.left_out
        if each.is_unread
    ]
    for file in layout.files:
        if file.path.suffix in (".yaml", ".yml"):
            read_yaml(file.path, tables.values)
    inventory = tables.inventory(path, layout)
    return with_effort(inventory, tables.lines, check(path) if check else None)
