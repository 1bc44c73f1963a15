"""Whether an installed package needs a framework: told by its metadata, or by its files where it has none. Nothing of it runs."""

from __future__ import annotations

import functools
import re
import sys
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

from ..files import read_regular
from ..foreign import LARGEST
from .distributions import distributions

MOST_FILES = 400  # that are looked into where a package has no metadata
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)


def why_needed(framework: frozenset[str], name: str) -> str:
    """Why the package of this import name needs one of a framework's distributions, or '' where it doesn't or can't be told."""
    if name in sys.stdlib_module_names:
        return ""
    distributions = _distribution_names(name)
    for distribution in distributions:
        chain = _chain(framework, distribution, frozenset())
        if chain:
            return f"{distribution} requires {' → '.join(chain)}"
    if distributions:
        return ""
    file = _importing_file(framework, name)
    return f"its file {file} imports it" if file else ""


def is_installed(name: str) -> bool:
    return name in _distributions() or PathFinder.find_spec(name) is not None


@functools.cache
def _distributions() -> dict[str, list[metadata.Distribution]]:
    """Import name -> distributions that bring it."""
    found: dict[str, list[metadata.Distribution]] = {}
    for distribution in distributions():
        for name in _brought(distribution):
            found.setdefault(name, []).append(distribution)
    return found


@functools.cache
def _distribution_names(name: str) -> tuple[str, ...]:
    """Of the distributions that bring a package. Reading what each is called takes longer than finding them."""
    return tuple(dict.fromkeys(own for each in _distributions().get(name, ()) if (own := each.metadata["Name"])))


def _brought(distribution: metadata.Distribution) -> set[str]:
    """The packages and modules that it brings: as it says itself, or by the files that it lists."""
    if declared := (distribution.read_text("top_level.txt") or "").split():
        return set(declared)
    listed = (distribution.read_text("RECORD") or "").splitlines()
    files = (line.partition(",")[0].strip('"') for line in listed if ".py" in line)
    return {file.partition("/")[0].removesuffix(".py") for file in files if file.endswith(".py")}


@functools.cache
def _required(distribution: str) -> tuple[str, ...]:
    """What it can't be installed without."""
    found = next(distributions(name=distribution), None)
    stated = (found.requires or []) if found is not None else []
    plain = [each for each in stated if "extra ==" not in each.partition(";")[2]]
    return tuple(match.group().lower().replace("_", "-") for each in plain if (match := _REQUIREMENT.match(each)))


def _chain(framework: frozenset[str], distribution: str, seen: frozenset[str]) -> tuple[str, ...]:
    """The requirements that lead to the framework, nearest first."""
    required = _required(distribution)
    found = next((each for each in required if each in framework), None)
    if found is not None:
        return (found,)
    for each in required:
        if each not in seen and (chain := _chain(framework, each, seen | {distribution, each})):
            return (each, *chain)
    return ()


@functools.cache
def _importing_file(framework: frozenset[str], name: str) -> str:
    """The first file of the package that imports the framework."""
    spec = PathFinder.find_spec(name)
    if spec is None:
        return ""
    folders = [Path(each) for each in spec.submodule_search_locations or ()]
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))[:MOST_FILES]]
    if spec.origin and spec.origin.endswith(".py") and not folders:
        files = [Path(spec.origin)]
    for path in files:
        try:
            if any(each.decode() in framework for each in _IMPORT.findall(read_regular(path, LARGEST))):
                return path.name
        except OSError:
            continue
    return ""
