"""The packages that a project asks for, held against what is installed here and against what MindSpore needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from ..artifacts import Package
from ..foreign import text_of, toml_at
from ..layout import ProjectFile
from .special import instead

NEEDS = {"numpy": "<2"}  # MindSpore 2.10's own requirement
REPLACED = {"torch", "torchvision", "torchaudio", "pytorch"}  # MindSpore comes in their place
FILE = re.compile(r"requirements[\w.-]*\.txt|pyproject\.toml|setup\.cfg|(environment|conda)[\w.-]*\.ya?ml")
REQUIREMENT = re.compile(
    r"\s*[\"']?(?:-\s+)?([A-Za-z][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*((?:(?:===?|>=|<=|!=|~=|<|>|=)\s*[\w.*+!-]+\s*,?\s*)+)?"
)
CLAUSE = re.compile(r"(===?|>=|<=|!=|~=|<|>|=)\s*([\w.*+!-]+)")
MOST = 1000  # packages; each is looked up among those that are installed
LARGEST = 200_000  # letters of a list of requirements


def packages(files: list[ProjectFile]) -> list[Package]:
    """One entry for each package that a file of requirements names, with the verdict on this machine."""
    found: dict[str, Package] = {}
    for file in files:
        if not FILE.fullmatch(file.path.name):
            continue
        text = text_of(file.path)
        if len(text) > LARGEST:
            continue
        for name, asked, line in _requirements(text, file.path):
            if name not in found and len(found) < MOST:
                found[name] = _judged(name, asked, file.relative, line)
    return list(found.values())


def _requirements(text: str, path: Path) -> Iterator[tuple[str, str, int]]:
    """(package, versions that are asked for, line)."""
    if path.name == "pyproject.toml":
        yield from _from_pyproject(text)
        return
    is_inside = path.suffix == ".txt"
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix != ".txt" and re.match(r"(install_requires|dependencies)\s*[:=]", line.strip()):
            is_inside = True
            continue
        if path.suffix != ".txt" and line[:1].strip() and not line.startswith("-"):
            is_inside = False
        code = line.partition("#")[0].partition(";")[0].strip()
        if is_inside and code and not code.startswith(("-r", "-c", "-e", "--", "-f", "-i", "http", "git+")):
            match = REQUIREMENT.match(code)
            if match is not None and not code[match.end() :].strip().startswith((":", "/", "@")):
                yield _named(match.group(1)), (match.group(2) or "").replace(" ", ""), number


def _from_pyproject(text: str) -> Iterator[tuple[str, str, int]]:
    listed = toml_at(text, "project", "dependencies")
    lines = text.splitlines()
    for requirement in (each for each in (listed if isinstance(listed, list) else ()) if isinstance(each, str)):
        match = REQUIREMENT.match(requirement.partition(";")[0])
        if match is not None:
            line = next((n for n, each in enumerate(lines, 1) if requirement in each), 1)
            yield _named(match.group(1)), (match.group(2) or "").replace(" ", ""), line


def _named(name: str) -> str:
    return name.lower().replace("_", "-")


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
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def satisfies(version: str, asked: str) -> bool:
    """Whether a version is one of those that are asked for; what is not installed satisfies nothing but no wish."""
    clauses = CLAUSE.findall(asked)
    if not clauses:
        return True
    return bool(version) and all(_holds(version, sign, other) for sign, other in clauses)


def _holds(version: str, sign: str, other: str) -> bool:
    mine, theirs = _numbers(version), _numbers(other.rstrip(".*"))
    if sign in ("==", "===", "=", "!="):
        is_same = mine[: len(theirs)] == theirs if other.endswith("*") or sign == "=" else _padded(mine, theirs)
        return is_same != (sign == "!=")
    if sign == "~=":
        return _compare(mine, theirs) >= 0 and mine[: len(theirs) - 1] == theirs[:-1]
    order = _compare(mine, theirs)
    return {">=": order >= 0, "<=": order <= 0, ">": order > 0, "<": order < 0}[sign]


def _padded(mine: list[int], theirs: list[int]) -> bool:
    return _compare(mine, theirs) == 0


def _compare(mine: list[int], theirs: list[int]) -> int:
    longest = max(len(mine), len(theirs))
    first, second = (each + [0] * (longest - len(each)) for each in (mine, theirs))
    return (first > second) - (first < second)


def _numbers(version: str) -> list[int]:
    """`1.26.4+cpu` -> [1, 26, 4]; what follows a letter doesn't count."""
    match = re.match(r"\d{1,18}(?:\.\d{1,18})*", version.removeprefix("v"))
    return [int(part) for part in match.group().split(".")] if match else []
