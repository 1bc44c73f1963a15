"""A converted project, and `mindferry launch` as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from mindferry.convert import convert_project

PROJECTS = Path(__file__).parents[1] / "projects"


def converted(folder: Path, files: dict[str, str]) -> Path:
    """The project with these files, converted; nothing in it needs a person."""
    source, output = folder / "source", folder / "converted"
    source.mkdir()
    for name, text in files.items():
        (source / name).write_text(text)
    result = convert_project(source, output)
    assert [str(finding) for finding in result.findings if finding.severity == "error"] == []
    return output


def run(cwd: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mindferry", "launch", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )


def processes_of(folder: Path) -> list[str]:
    """Command lines of living processes that name the folder."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            try:
                line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if str(folder) in line:
                found.append(line)
    return found
