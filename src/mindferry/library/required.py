"""Packages that those brought along can't be installed without, and that need torch themselves: they come along too."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path

from ..errors import MindferryError
from .packages import Package, find_package
from .substitute import stand_in

NAME = re.compile(r"[A-Za-z0-9._-]+")
TORCH = "torch"


def with_required(
    packages: Iterable[Package], sites: tuple[Path, ...], served: frozenset[str], needs_torch: Callable[[str], bool]
) -> list[Package]:
    """The packages, then what they require, nearest first; what is not installed or may not be copied is left out."""
    installed = Installed((*map(str, sites), *sys.path))
    found = {each.name: each for each in packages}
    waiting = list(found.values())
    for package in waiting:
        for distribution in installed.requirements(package.distribution):
            for name in installed.import_names(distribution):
                if name in served or name in found:
                    continue
                if not (needs_torch(name) or stand_in(name) or installed.is_on_torch(distribution)):
                    continue
                try:
                    required = find_package(name, sites)
                except MindferryError:
                    continue
                if not required.refusal:
                    found[name] = required
                    waiting.append(required)
    return list(found.values())


class Installed:
    """Distributions in some folders, and what their metadata say."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._folders = list(folders)
        self._on_torch: dict[str, bool] = {}

    def requirements(self, distribution: str) -> list[str]:
        """What it can't be installed without."""
        found = self._find(distribution)
        stated = (found.requires or []) if found is not None else []
        plain = [each for each in stated if "extra ==" not in each.partition(";")[2]]
        return [match.group().lower().replace("_", "-") for each in plain if (match := NAME.match(each))]

    def import_names(self, distribution: str) -> list[str]:
        found = self._find(distribution)
        if found is None:
            return []
        stated = (found.read_text("top_level.txt") or "").split()
        return stated or list(dict.fromkeys(_top_names(str(each) for each in found.files or ())))

    def is_on_torch(self, distribution: str) -> bool:
        """Whether its requirements lead to torch."""
        if distribution not in self._on_torch:
            self._on_torch[distribution] = False  # while it is asked: two that require each other
            required = self.requirements(distribution)
            self._on_torch[distribution] = TORCH in required or any(map(self.is_on_torch, required))
        return self._on_torch[distribution]

    def _find(self, distribution: str) -> metadata.Distribution | None:
        return next(iter(metadata.distributions(name=distribution, path=self._folders)), None)


def _top_names(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        head, _, rest = file.partition("/")
        if rest == "__init__.py" and head.isidentifier():
            yield head
        elif not rest and head.endswith(".py"):
            yield head.removesuffix(".py")
