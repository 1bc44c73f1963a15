"""Converting again into the same folder, with any number of processes and any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

PROJECTS = Path(__file__).parents[1] / "projects"
LAYER = "import torch.nn as nn\n\n\nclass Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm2d(3)\n\n    def forward(self, x):\n        return self.bn(x)\n"
NET = "import torch\nfrom layers import Block\n\n\ndef run(x):\n    block = Block()\n    return block(x).size(0)\n"


def project(root: Path, **files: str) -> Path:
    root.mkdir(exist_ok=True)
    for name, text in files.items():
        (root / f"{name}.py").write_text(text)
    return root


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.py")}


def test_nothing_is_done_again_where_nothing_changed(tmp_path: Path) -> None:
    source, out = project(tmp_path / "p", layers=LAYER, net=NET), tmp_path / "out"
    first = convert_project(source, out)
    stamps = times(out)
    second = convert_project(source, out)
    assert set(second.reused) == {"layers.py", "net.py"} and first.reused == () and times(out) == stamps
    assert second.files == first.files and second.findings == first.findings


def test_a_change_inside_a_function_redoes_that_file_alone(tmp_path: Path) -> None:
    source, out = project(tmp_path / "p", layers=LAYER, net=NET), tmp_path / "out"
    convert_project(source, out)
    project(source, net=NET.replace("size(0)", "size(1)"))
    result = convert_project(source, out)
    assert result.reused == ("layers.py",) and "shape[1]" in (out / "net.py").read_text()


def test_a_change_that_others_may_see_redoes_them_too(tmp_path: Path) -> None:
    source, out = (
        project(tmp_path / "p", layers=LAYER, net=NET.replace("block(x)", "block.bn.weight")),
        tmp_path / "out",
    )
    convert_project(source, out)
    assert "block.bn.gamma.shape[0]" in (out / "net.py").read_text()
    project(source, layers=LAYER.replace("nn.BatchNorm2d(3)", "nn.Conv2d(3, 3, 1)"))
    assert convert_project(source, out).reused == ()
    assert "block.bn.weight.shape[0]" in (out / "net.py").read_text()


def test_other_settings_redo_everything(tmp_path: Path) -> None:
    source, out = project(tmp_path / "p", net="import torch\nx = torch.argmax(y)\n"), tmp_path / "out"
    convert_project(source, out)
    assert convert_project(source, out, settings=Settings("ascend")).reused == ()
    assert "mint.argmax" in (out / "net.py").read_text() and not (out / "ms_compat.py").exists()


def test_what_was_edited_or_removed_in_the_output_is_noticed(tmp_path: Path) -> None:
    source, out = project(tmp_path / "p", layers=LAYER, net=NET), tmp_path / "out"
    convert_project(source, out)
    (out / "net.py").write_text("mine = 1\n")
    (out / "layers.py").unlink()
    for _ in range(2):  # and is kept for good
        result = convert_project(source, out)
        assert (out / "net.py").read_text() == "mine = 1\n" and "nn.Cell" in (out / "layers.py").read_text()
        assert [finding.code for finding in result.findings] == ["MF903"] and "remove" in result.findings[0].advice


def test_a_file_whose_original_is_gone_goes_unless_it_was_edited(tmp_path: Path) -> None:
    source, out = project(tmp_path / "p", layers=LAYER, net=NET, old=NET, older=NET), tmp_path / "out"
    convert_project(source, out)
    (out / "older.py").write_text("mine = 1\n")
    (source / "old.py").unlink()
    (source / "older.py").unlink()
    result = convert_project(source, out)
    assert not (out / "old.py").exists() and (out / "older.py").read_text() == "mine = 1\n"
    assert [(finding.code, finding.path) for finding in result.findings] == [("MF904", "older.py")]


def test_the_output_is_the_same_for_any_hash_seed_and_number_of_workers(tmp_path: Path) -> None:
    """Many projects in one, so that several processes have something to do."""
    results = []
    for seed, workers in (("1", "1"), ("2", "2"), ("3", "3")):
        out = tmp_path / f"out{seed}"
        command = [sys.executable, "-m", "mindferry", "convert", str(PROJECTS), "-o", str(out), "-j", workers]
        done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True)
        assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
        files = tree(out)
        files[".mindferry/convert.json"] = files[".mindferry/convert.json"].replace(str(out).encode(), b"")
        results.append((files, done.stdout.replace(str(out), "")))
    assert len(results[0][0]) > 40
    assert results[0] == results[1] == results[2]


def test_converting_the_output_changes_nothing(tmp_path: Path) -> None:
    first = convert_project(PROJECTS, tmp_path / "once")
    again = convert_project(tmp_path / "once", tmp_path / "twice")
    assert sum(file.status == "converted" for file in first.files) > 20
    assert [file.path for file in again.files if file.status == "converted"] == []
    assert {finding.code for finding in again.findings} <= {"MF902"}


def test_migrate_writes_again_what_was_removed(tmp_path: Path) -> None:
    """Its stages are done, but what they wrote is gone."""
    from mindferry.migrate import Outcome, migrate

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "net.py").write_text("import torch\n\nx = torch.ones(2)\n")
    outcomes: list[Outcome] = []
    migrate(tmp_path / "in", tmp_path / "out", outcomes.append)
    before = (tmp_path / "out" / "net.py").read_bytes()
    (tmp_path / "out" / "net.py").unlink()
    outcomes.clear()
    migrate(tmp_path / "in", tmp_path / "out", outcomes.append)
    assert (tmp_path / "out" / "net.py").read_bytes() == before
    assert {each.stage: each.is_fresh for each in outcomes} == {"analyze": False, "convert": True}
