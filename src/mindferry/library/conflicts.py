"""Versions that don't fit: what is installed is brought along, whatever the project or another package asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .. import findings
from ..artifacts import Finding
from ..foreign import text_of
from ..layout import Layout
from ..versions import REQUIREMENT, REQUIREMENTS_FILE, package_name, requirements_in, satisfies
from .packages import Package
from .required_packages import Installed

NOTICE = "ported/NOTICE.md"
LARGEST = 200_000  # letters of a list of requirements
ADVICE = "install a version that fits where mindferry runs, or name the folder that holds one with --site"


def version_conflicts(layout: Layout, packages: list[Package], installed: Installed) -> Iterator[Finding]:
    """What the project's lists of requirements, and the packages themselves, ask for and did not get."""
    known = {package_name(each.distribution): each for each in packages if each.version}
    for path, relative in _lists(layout.root):
        for name, asked, line in requirements_in(text_of(path), path):
            if name in known and not satisfies(known[name].version, asked):
                yield _conflict(relative, line, relative, known[name], asked)
    for package in packages:
        for stated in installed.stated(package.distribution):
            match = REQUIREMENT.match(re.sub(r"[()]", " ", stated.partition(";")[0]))
            name = package_name(match.group(1)) if match else ""
            asked = (match.group(2) or "").replace(" ", "") if match else ""
            if name in known and not satisfies(known[name].version, asked):
                yield _conflict(NOTICE, 1, f"{package.name} {package.version}", known[name], asked)


def _lists(root: Path) -> Iterator[tuple[Path, str]]:
    if root.is_file():
        return
    for path in sorted(root.iterdir()):
        if REQUIREMENTS_FILE.fullmatch(path.name) and path.is_file() and path.stat().st_size < LARGEST:
            yield path, path.name


def _conflict(place: str, line: int, who: str, package: Package, asked: str) -> Finding:
    message = f"{who} asks for {package.distribution}{asked}, but {package.version} is installed, and was brought along"
    return Finding(findings.MF152, "warning", place, line, 1, message, ADVICE)
