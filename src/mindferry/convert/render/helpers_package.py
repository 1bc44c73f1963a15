"""Writes ms_compat as a package where it is long: a module for each subject, and an __init__.py that names them all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from importlib.resources import files

from .helper_use import ProjectUse
from .helpers_module import (
    HEADER,
    NUMBERS,
    SETTINGS,
    SPOKEN,
    Unit,
    body_of,
    chosen_units,
    joined,
    library,
    render,
    with_settings,
)
from .import_lines import sorted_imports
from .specialise_helpers import names_taken

LONGEST = 300  # lines of a module that stands alone
DISPATCH = "values"  # what asks a value at run time which framework's method it has


def render_files(names: set[str], use: ProjectUse | None, is_package: bool, source: str = "torch") -> dict[str, str]:
    """By path below the folder that holds ms_compat: one file, or with `is_package` several where one would be long."""
    text = render(names, use, source)
    if not is_package or source != "torch" or text.count("\n") <= LONGEST:
        return {".py": text}
    units = chosen_units(with_settings({*names, SETTINGS}), use)
    homes = _homes(units)
    modules: dict[str, list[Unit]] = {}
    for unit in units:
        modules.setdefault(homes[unit.name], []).append(unit)
    made = {f"/{name}.py": _module(name, each, homes) for name, each in sorted(modules.items())}
    return {"/__init__.py": _init(names, homes), **made}


def with_root_first(text: str, name: str) -> str:
    """A package's helpers: those beside the script that is run stand for them, so that classes are the same everywhere."""
    lines = [
        "import sys",
        "",
        "try:",
        f"    import {name} as shared",
        "except ImportError:  # the package is used alone",
    ]
    lines += ["    shared = None", "if shared is not None:  # classes of two copies would not know each other"]
    lines += ["    sys.modules[__name__] = shared"]
    head, _, rest = text.partition("\n")
    return "\n".join((head, "", *lines, rest))


def _homes(units: list[Unit]) -> dict[str, str]:
    """By helper, the module in which it stands; subjects that need each other are one."""
    homes = {unit.name: _subject(unit) for unit in units}
    while cycle := _cycle(_needs(units, homes)):
        kept = max(sorted(cycle), key=lambda subject: sum(home == subject for home in homes.values()))
        homes = {name: kept if home in cycle else home for name, home in homes.items()}
    return homes


def _subject(unit: Unit) -> str:
    return unit.file.removesuffix(".py").partition("_")[0] if unit.file else DISPATCH


def _needs(units: list[Unit], homes: Mapping[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {home: set() for home in homes.values()}
    for unit in units:
        found[homes[unit.name]] |= {homes[name] for name in names_taken(unit.text) if name in homes}
    return {home: needed - {home} for home, needed in found.items()}


def _cycle(needs: Mapping[str, set[str]]) -> set[str]:
    """Modules that need each other, by whatever way; empty if there are none."""
    reached = {home: set(needed) for home, needed in needs.items()}
    for _ in reached:
        for home, found in reached.items():
            reached[home] = found.union(*(reached[each] for each in found))
    for home, found in sorted(reached.items()):
        if home in found:
            return {each for each in found if home in reached[each]}
    return set()


def _module(name: str, units: list[Unit], homes: Mapping[str, str]) -> str:
    text = body_of(units)
    own = {unit.name for unit in units}
    _, imports = library()
    taken = names_taken(text)
    lines = [imports[each] for each in taken if each in imports and each not in homes]
    lines += [f"from .{homes[each]} import {each}" for each in taken if each in homes and each not in own]
    head = f'"""{_sentence(name, units)}"""\n\n'
    return head + joined(sorted_imports(lines), text) + "\n"


def _sentence(name: str, units: list[Unit]) -> str:
    """What the library says of the file from which most of a module comes."""
    if name == DISPATCH:
        return "Methods of values of which only running tells whether they are tensors."
    counted = [unit.file for unit in units if unit.file]
    most = max(sorted(set(counted)), key=lambda file: sum(u.text.count("\n") for u in units if u.file == file))
    text = files("mindferry.apis.torch.compat").joinpath(most).read_text("utf-8")
    return (ast.get_docstring(ast.parse(text)) or name).splitlines()[0]


def _init(names: Iterable[str], homes: Mapping[str, str]) -> str:
    """What the project's files take from here."""
    lines = sorted_imports(f"from .{homes[name]} import {name}" for name in (*names, SETTINGS, NUMBERS))
    listed = "".join(f'    "{name}",\n' for name in sorted(names))
    return f"{HEADER.format(SPOKEN['torch'])}{lines}\n\n__all__ = [\n{listed}]\n\n{SETTINGS}()\n{NUMBERS}()\n"
