"""Runs a Markdown page as a reader would: `sh` blocks in order, files that `python` and `toml` blocks name, output compared."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?:#|//) (\S+\.(?:py|toml|cc|sh))\n")  # a file's name as the first line: the block is that file


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text("utf-8"))]


def run_page(page: Path, folder: Path) -> None:
    """Every `sh` block in `folder`; a `text` block right after one is what it must print, with … for what may vary."""
    for name in ("examples", "tests/projects"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    printed = ""
    for block in blocks(page):
        name = NAMED.match(block.text)
        if block.language == "sh":
            printed = _run(page, block.text, folder)
        elif block.language == "text":
            _compare(page, block.text, printed)
        elif name:
            target = folder / name.group(1)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")


def _run(page: Path, script: str, folder: Path) -> str:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
    }
    environment.pop("PYTEST_CURRENT_TEST", None)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        text=True,
        capture_output=True,
        timeout=900,
    )
    assert done.returncode == 0, (
        f"{page.name}: exit code {done.returncode} of\n{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    )
    return done.stdout


def _compare(page: Path, expected: str, printed: str) -> None:
    """Each expected line, in order, is a line of what was printed."""
    lines = iter(printed.splitlines())
    for line in expected.splitlines():
        pattern = re.sub(r"([\[\]*?])", r"[\1]", line.strip()).replace("…", "*")
        if pattern and not any(fnmatch.fnmatchcase(found.strip(), pattern) for found in lines):
            raise AssertionError(f"{page.name} promises\n    {line}\nbut this was printed:\n{printed}")
