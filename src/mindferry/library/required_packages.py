"""Packages that those brought along can't be installed without, and that need torch themselves: they come along too."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path

from ..errors import MindferryError
from ..files import read_regular
from ..layout import LARGEST_CODE
from ..read.distributions import distributions, listed_files
from .packages import Package, find_package
from .substitute import stand_in

NAME = re.compile(r"[A-Za-z0-9._-]+")
TORCH, VISION = "torch", "torchvision"
NETWORKS = re.compile(rb"^[ \t]*from torchvision\.models(?:\.(?!feature_extraction)\w+)? import", re.MULTILINE)


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
                if name in found or (name in served and not (name == VISION and builds_on_vision(package))):
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


def builds_on_vision(package: Package) -> bool:
    """Whether its networks derive from torchvision's; whoever takes only transforms of it finds them in the table."""
    files = sorted(package.root.rglob("*.py")) if package.root.is_dir() else [package.root]
    return any(NETWORKS.search(read_regular(each, LARGEST_CODE)) for each in files)


class Installed:
    """Distributions in some folders, and what their metadata say."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self._folders = list(folders)
        self._on_torch: dict[str, bool] = {}

    def has(self, distribution: str) -> bool:
        return self._find(distribution) is not None

    def requirements(self, distribution: str) -> list[str]:
        """What it can't be installed without."""
        return [
            match.group().lower().replace("_", "-") for each in self.stated(distribution) if (match := NAME.match(each))
        ]

    def stated(self, distribution: str) -> list[str]:
        """The same, with the versions that it asks for."""
        found = self._find(distribution)
        listed = (found.requires or []) if found is not None else []
        return [each for each in listed if "extra ==" not in each.partition(";")[2]]

    def import_names(self, distribution: str) -> list[str]:
        found = self._find(distribution)
        if found is None:
            return []
        stated = (found.read_text("top_level.txt") or "").split()
        return stated or list(dict.fromkeys(_top_names(str(each) for each in listed_files(found))))

    def is_on_torch(self, distribution: str) -> bool:
        """Whether its requirements lead to torch."""
        if distribution not in self._on_torch:
            self._on_torch[distribution] = False  # while it is asked: two that require each other
            required = self.requirements(distribution)
            self._on_torch[distribution] = TORCH in required or any(map(self.is_on_torch, required))
        return self._on_torch[distribution]

    def _find(self, distribution: str) -> metadata.Distribution | None:
        return next(distributions(self._folders, distribution), None)


def _top_names(files: Iterable[str]) -> Iterator[str]:
    for file in files:
        head, _, rest = file.partition("/")
        if rest == "__init__.py" and head.isidentifier():
            yield head
        elif not rest and head.endswith(".py"):
            yield head.removesuffix(".py")
