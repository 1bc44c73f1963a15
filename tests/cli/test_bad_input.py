"""Bad input gets one clear sentence and exit code 2, and nothing is written."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mindferry", *map(str, arguments)], capture_output=True, text=True)


def refused(result: subprocess.CompletedProcess[str]) -> str:
    assert result.returncode == 2, result
    assert "Traceback" not in result.stderr
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("mindferry: ")
    return lines[0]


@pytest.mark.parametrize("command", ["convert", "migrate"])
def test_a_path_that_is_not_there(command: str, tmp_path: Path) -> None:
    assert "there is no" in refused(run(command, tmp_path / "nothing", "-o", tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["convert", "migrate"])
def test_an_empty_folder(command: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "is empty" in refused(run(command, tmp_path / "empty", "-o", tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["convert", "migrate"])
def test_a_project_without_torch(command: str, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").write_text("print(1)\n")
    assert "uses no torch" in refused(run(command, tmp_path / "p", "-o", tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["convert", "migrate"])
def test_an_output_folder_that_holds_something_else(command: str, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").write_text("import torch\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")
    assert "already holds something else" in refused(run(command, tmp_path / "p", "-o", tmp_path / "out"))
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_project_whose_only_file_does_not_parse_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").write_text("import torch\ndef broken(:\n")
    result = run("convert", tmp_path / "p", "-o", tmp_path / "out")
    assert result.returncode == 1
    assert result.stdout.startswith("a.py:2:12 MF900 not valid Python 3")


def test_a_broken_mindferry_toml(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").write_text("import torch\n")
    (tmp_path / "p/mindferry.toml").write_text("[verfy]\nmodel = 1\n")
    assert "no section [verfy]" in refused(run("convert", tmp_path / "p", "-o", tmp_path / "out"))
    (tmp_path / "p/mindferry.toml").write_text('[[convert]]\nexclude = ["a"]\n')
    assert "has to be one section" in refused(run("convert", tmp_path / "p", "-o", tmp_path / "out"))


@pytest.mark.parametrize("leads_to", ["mindferry.toml", "gone.toml"])
def test_a_mindferry_toml_that_is_a_link_to_nothing_is_not_passed_over(leads_to: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n")
    (tmp_path / "mindferry.toml").symlink_to(leads_to)
    assert "is no file" in refused(run("convert", tmp_path, "-o", tmp_path / "out"))


@pytest.mark.parametrize("command", ["convert", "migrate"])
def test_a_disk_that_is_full(command: str, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/a.py").write_text("import torch\n" + "x = torch.zeros(3)\n" * 2000)
    line = [sys.executable, "-m", "mindferry", command, str(tmp_path / "p"), "-o", str(tmp_path / "out")]
    result = subprocess.run(
        line,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000)),
    )
    assert "File too large; choose another place with -o" in refused(result)
    assert run(command, tmp_path / "p", "-o", tmp_path / "out").returncode == 0  # with room again, it goes on


@pytest.mark.parametrize("command", ["train", "report"])
def test_a_folder_that_was_never_converted(command: str, tmp_path: Path) -> None:
    assert "first" in refused(run(command, tmp_path))


def test_env_lists_versions() -> None:
    result = run("env")
    assert result.returncode == 0 and "mindspore    2.10.0" in result.stdout and "torch        2.13.0" in result.stdout
