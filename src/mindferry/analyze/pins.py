"""The packages that a project asks for, held against what is installed here and against what MindSpore needs."""

from __future__ import annotations

from ..artifacts import Package
from ..foreign import text_of
from ..layout import ProjectFile
from ..read.distributions import distributions
from ..versions import CLAUSE, REQUIREMENTS_FILE, requirements_in, satisfies
from .special import instead

NEEDS = {"numpy": "<2"}  # MindSpore 2.10's own requirement
REPLACED = {"torch", "torchvision", "torchaudio", "pytorch"}  # MindSpore comes in their place
MOST = 1000  # packages; each is looked up among those that are installed
LARGEST = 200_000  # letters of a list of requirements


def packages(files: list[ProjectFile]) -> list[Package]:
    """One entry for each package that a file of requirements names, with the verdict on this machine."""
    found: dict[str, Package] = {}
    for file in files:
        if not REQUIREMENTS_FILE.fullmatch(file.path.name):
            continue
        text = text_of(file.path)
        if len(text) > LARGEST:
            continue
        for name, asked, line in requirements_in(text, file.path):
            if name not in found and len(found) < MOST:
                found[name] = _judged(name, asked, file.relative, line)
    return list(found.values())


def _judged(name: str, asked: str, path: str, line: int) -> Package:
    installed = installed_version(name)
    return Package(name, asked, installed, _verdict(name, asked, installed), path, line)


def _verdict(name: str, asked: str, installed: str) -> str:
    if name in REPLACED:
        return "MindSpore comes in its place" + (
            f"; the reference ran with another version here: {installed}" if not satisfies(installed, asked) else ""
        )
    if advice := instead(name.replace("-", "_")):
        return f"needs torch: {advice}"
    needed = NEEDS.get(name, "")
    if needed and asked and not _may_agree(asked, needed):
        return f"MindSpore needs {name}{needed}"
    if not installed:
        return "not installed here"
    return "as asked" if satisfies(installed, asked) else "another version is installed here"


def _may_agree(asked: str, needed: str) -> bool:
    """Whether a version below the limit can satisfy what is asked: its exact and lowest versions must be below it."""
    lowest = [version for sign, version in CLAUSE.findall(asked) if sign in ("==", "===", ">=", "~=", ">", "=")]
    return all(satisfies(version.rstrip(".*"), needed) for version in lowest)


def installed_version(name: str) -> str:
    found = next(distributions(name=name), None) if name else None
    return str((found.metadata["Version"] if found is not None else "") or "")
