"""Installed packages whose own files are broken or hostile: they stop nothing, and bring nothing that is not theirs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings
from mindferry.read.distributions import distributions, listed_files

HEAD = "import torch\nfrom torch import nn\n\n\nclass Head(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
NAMED = b"Name: pkgx\nVersion: 1\n"
STATED: dict[str, dict[str, bytes | None]] = {
    "no UTF-8 in its metadata": {"METADATA": NAMED + b"Author: caf\xe9\n"},
    "no UTF-8 in its list of files": {"METADATA": NAMED, "RECORD": b"pkgx/caf\xe9.py,,\n"},
    "no UTF-8 in its names": {"METADATA": b"Name: other\nVersion: 1\n", "top_level.txt": b"caf\xe9\n"},
    "no name": {"METADATA": b"Version: 1\n"},
    "nothing": {},
    "a pipe for metadata": {"METADATA": None},
    "a pipe for a list of files": {"METADATA": NAMED, "RECORD": None},
    "a pipe for names": {"METADATA": b"Name: other\n", "top_level.txt": None},
}


def installed(site: Path, stated: dict[str, bytes | None]) -> Path:
    (site / "pkgx").mkdir(parents=True)
    (site / "pkgx" / "__init__.py").write_text(HEAD)
    (site / "pkgx-1.dist-info").mkdir()
    for name, data in stated.items():
        place = site / "pkgx-1.dist-info" / name
        os.mkfifo(place) if data is None else place.write_bytes(data)
    return site


def brought(site: Path, folder: Path) -> Path:
    (folder / "in").mkdir()
    (folder / "in" / "use.py").write_text("import torch\nimport pkgx\n\nhead = pkgx.Head()\n")
    convert_project(folder / "in", folder / "out", settings=Settings(packages=("pkgx",), sites=(str(site),)))
    assert "mindspore" in (folder / "out" / "ported" / "pkgx" / "__init__.py").read_text()
    return folder / "out" / "ported" / "pkgx"


@pytest.mark.parametrize("kind", STATED)
def test_a_package_is_brought_whatever_it_says_of_itself(kind: str, tmp_path: Path) -> None:
    brought(installed(tmp_path / "site", STATED[kind]), tmp_path)


def test_no_licence_is_taken_from_elsewhere(tmp_path: Path) -> None:
    """Neither by a list of files that leaves the folder, nor by a link to what is no licence."""
    (tmp_path / "LICENSE").write_text("secret")
    (tmp_path / "key").write_text("secret")
    record = b"../LICENSE,,\npkgx/__init__.py,,\npkgx/NOTICE,,\npkgx/COPYING,,\n"
    site = installed(tmp_path / "site", {"METADATA": NAMED, "RECORD": record})
    (site / "pkgx" / "COPYING").symlink_to(tmp_path / "key")
    (site / "pkgx" / "NOTICE").write_text("ours")
    os.mkfifo(site / "pkgx" / "LICENSE")
    folder = brought(site, tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["NOTICE", "__init__.py"]


def test_a_list_of_files_that_is_no_table_is_empty(tmp_path: Path) -> None:
    site = installed(tmp_path, {"METADATA": NAMED, "RECORD": b'"' + b"x" * 200_000})
    (found,) = distributions([str(site)])
    assert listed_files(found) == []
