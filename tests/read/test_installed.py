"""Whether a package needs torch is read from what is installed; nothing of it is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BOMB = "raise SystemExit('a package was imported')\n"


def package(site: Path, name: str, requires: tuple[str, ...] = (), code: str = BOMB, has_metadata: bool = True) -> None:
    (site / name).mkdir(parents=True)
    (site / name / "__init__.py").write_text(code)
    if has_metadata:
        home = site / f"{name}-1.0.dist-info"
        home.mkdir()
        lines = "".join(f"Requires-Dist: {each}\n" for each in requires)
        (home / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{lines}")
        (home / "top_level.txt").write_text(f"{name}\n")
        (home / "RECORD").write_text(f"{name}/__init__.py,,\n")


def converted(tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "net.py").write_text(f"import torch\n{code}\nx = torch.zeros(3)\n")
    import mindferry

    path = f"{tmp_path / 'site'}:{Path(mindferry.__file__).parents[1]}"
    return subprocess.run(
        [sys.executable, "-m", "mindferry", "convert", str(tmp_path / "net.py"), "--check"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"},
    )


@pytest.mark.parametrize(
    ("name", "requires", "code", "has_metadata", "said"),
    [
        ("deep_parts", ("torch>=1.0",), BOMB, True, "deep-parts requires torch"),
        ("deep_parts", ("numpy", "middle_man (>=0.1)"), BOMB, True, "requires middle-man → torch"),
        ("deep_parts", (), f"import torch.nn as nn\n{BOMB}", False, "__init__.py imports it"),
        ("torch_nowhere", None, "", False, "by its name"),
    ],
    ids=["stated", "through another package", "without metadata", "not installed"],
)
def test_an_import_that_needs_torch_is_a_finding(
    tmp_path: Path, name: str, requires: tuple[str, ...] | None, code: str, has_metadata: bool, said: str
) -> None:
    if requires is not None:
        package(tmp_path / "site", name, requires, code, has_metadata)
        package(tmp_path / "site", "middle_man", ("torch",))
    done = converted(tmp_path, f"import {name}")
    assert "MF150" in done.stdout
    assert said in done.stdout.replace("deep_parts requires", "deep-parts requires")


def test_an_import_that_needs_none_is_left_in_peace(tmp_path: Path) -> None:
    package(tmp_path / "site", "plain_parts", ("numpy", 'torch; extra == "deep"'))
    done = converted(tmp_path, "import plain_parts, json, somewhere_else")
    assert done.returncode == 0 and "MF150" not in done.stdout, done.stdout
