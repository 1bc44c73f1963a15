"""An installed package: where its files are, its version and its licence. Read from its metadata; nothing of it is run."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ..errors import MindferryError
from ..files import is_inside
from ..read.distributions import distributions, listed_files

LICENCE_FILES = re.compile(r"(?:licen[cs]e|copying|notice|copyright)[\w.-]*", re.IGNORECASE)
LONGEST = 4 << 20  # bytes of a licence
FORBIDDING = re.compile(
    r"proprietary|commercial licen[cs]e|all rights reserved|no[- ]derivatives|other/proprietary|nvidia source code",
    re.I,
)
NO_CHANGES = re.compile(r"NoDeriv|\bBY(?:-NC)?-ND\b", re.I)
PERMITTING = re.compile(
    r"\b(?:mit|apache|bsd|isc|mpl|gpl|lgpl|agpl|unlicense|zlib|psf|python software|cc0|cc-by|artistic|boost|wtfpl|public domain)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Package:
    name: str  # as it is imported
    distribution: str
    version: str
    licence: str  # as its metadata calls it, or ''
    root: Path  # its folder, or the file of a package that is one module
    licence_files: tuple[Path, ...]
    compiled: tuple[str, ...] = ()  # modules of it that are no Python
    parts: tuple[str, ...] = ()  # the modules of it that may come along, with what is in them; () is all

    def holds(self, module: str) -> bool:
        return not self.parts or any(module == each or module.startswith(f"{each}.") for each in self.parts)

    @property
    def refusal(self) -> str:
        """Why it may not be carried along, or ''."""
        is_forbidden = FORBIDDING.search(self.licence) and not PERMITTING.search(self.licence)
        if is_forbidden or NO_CHANGES.search(self.licence):
            return (
                f"the licence of {self.name} ({self.licence[:80]}) does not allow to carry changed copies of it along"
            )
        return ""


def find_package(name: str, sites: Iterable[Path] = ()) -> Package:
    """The package of this import name, from the given folders or from where Python would find it."""
    folders = [*map(str, sites), *sys.path]
    for folder in folders:
        base = Path(folder or ".")
        for root in (base / name, base / f"{name}.py"):
            if root.is_file() or (root / "__init__.py").is_file():
                return _described(name, root, base)
    raise MindferryError(
        f"there is no installed package {name} to bring along; install it where mindferry runs, or name its folder with --site"
    )


def _described(name: str, root: Path, base: Path) -> Package:
    found = _distribution(name, base)
    compiled = [] if root.is_file() else sorted({path.name.partition(".")[0] for path in root.rglob("*.so")})
    if found is None:
        return Package(
            name, name, "", "", root, _licence_files(root.parent if root.is_file() else root), tuple(compiled)
        )
    described = found.metadata
    licence = _field(described, "License-Expression") or _classified(described) or _field(described, "License")
    listed = [base / each for each in listed_files(found) if is_inside(each)]
    files = tuple(path for path in listed if _is_licence(path))
    licence = " ".join(licence.split())[:200]
    return Package(
        name,
        _field(described, "Name") or name,
        found.version,
        licence,
        root,
        files or _licence_files(root if root.is_dir() else base),
        tuple(compiled),
    )


def _field(described: metadata.PackageMetadata, name: str) -> str:
    return str(described[name]) if name in described else ""


def _classified(described: metadata.PackageMetadata) -> str:
    """What its classifiers say."""
    names = [each for each in described.get_all("Classifier") or () if each.startswith("License ::")]
    return ", ".join(each.rpartition("::")[2].strip() for each in names)


def _distribution(name: str, base: Path) -> metadata.Distribution | None:
    """The distribution in this folder that brings the package."""
    wanted = name.lower().replace("-", "_")
    for each in distributions([str(base)]):
        own = _field(each.metadata, "Name").lower().replace("-", "_")
        if own == wanted:
            return each
        top = (each.read_text("top_level.txt") or "").split()
        if name in top:
            return each
        if not top and any(str(path).startswith(f"{name}/__init__.py") for path in listed_files(each)):
            return each
    return None


def _licence_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.iterdir() if _is_licence(path)))


def _is_licence(path: Path) -> bool:
    """By its name, and by that of what it links to: a link to something else of the user's is not copied."""
    if not LICENCE_FILES.fullmatch(path.name) or path.suffix in (".py", ".pyc"):
        return False
    try:
        is_named_so = LICENCE_FILES.fullmatch(path.resolve().name) is not None
        return is_named_so and path.is_file() and path.stat().st_size <= LONGEST
    except (OSError, RuntimeError):
        return False
