"""Small libraries that stand on torch, installed into a folder of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

BLOCKED = """
import importlib.abc, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def install(site: Path, name: str, files: dict[str, str], licence: str = "MIT", requires: str = "torch") -> None:
    """As pip would have done it."""
    for relative, text in files.items():
        path = site / name / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    about = site / f"{name}-1.2.3.dist-info"
    about.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.2.3", f"License: {licence}"]
    lines += [f"Requires-Dist: {requires}"] if requires else []
    (about / "METADATA").write_text("\n".join(lines) + "\n")
    (about / "LICENSE").write_text(f"{licence}: you may use {name}.\n")
    record = [f"{name}/{relative},," for relative in files] + [f"{name}-1.2.3.dist-info/LICENSE,,"]
    (about / "RECORD").write_text("\n".join(record) + "\n")
    (about / "top_level.txt").write_text(f"{name}\n")


def project(folder: Path, files: dict[str, str]) -> Path:
    for relative, text in files.items():
        path = folder / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return folder


def run_without(names: set[str], folder: Path, code: str) -> str:
    """What a program prints where these packages can't be imported."""
    program = BLOCKED.format(names={*names, "torch", "mindferry"}) + dedent(code)
    environment = {**os.environ, "PYTHONPATH": str(folder), "GLOG_v": "4"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
