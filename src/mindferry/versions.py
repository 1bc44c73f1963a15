"""Requirements as a project's or a package's own files state them: which versions are asked for, and whether one of them is here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .foreign import toml_at

REQUIREMENTS_FILE = re.compile(r"requirements[\w.-]*\.txt|pyproject\.toml|setup\.cfg|(environment|conda)[\w.-]*\.ya?ml")
REQUIREMENT = re.compile(
    r"\s*[\"']?(?:-\s+)?([A-Za-z][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*((?:(?:===?|>=|<=|!=|~=|<|>|=)\s*[\w.*+!-]+\s*,?\s*)+)?"
)
CLAUSE = re.compile(r"(===?|>=|<=|!=|~=|<|>|=)\s*([\w.*+!-]+)")


def requirements_in(text: str, path: Path) -> Iterator[tuple[str, str, int]]:
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
                yield package_name(match.group(1)), (match.group(2) or "").replace(" ", ""), number


def _from_pyproject(text: str) -> Iterator[tuple[str, str, int]]:
    listed = toml_at(text, "project", "dependencies")
    lines = text.splitlines()
    for requirement in (each for each in (listed if isinstance(listed, list) else ()) if isinstance(each, str)):
        match = REQUIREMENT.match(requirement.partition(";")[0])
        if match is not None:
            line = next((n for n, each in enumerate(lines, 1) if requirement in each), 1)
            yield package_name(match.group(1)), (match.group(2) or "").replace(" ", ""), line


def package_name(name: str) -> str:
    return name.lower().replace("_", "-")


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
