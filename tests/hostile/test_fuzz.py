"""The fuzzers, for a few seconds each from a fixed seed; CI runs a minute of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[2] / "fuzz"


@pytest.mark.parametrize(
    ("name", "limits"),
    [("weights", ["--seconds", "5"]), ("keras_weights", ["--files", "150"]), ("texts", ["--files", "400"])],
)
def test_broken_files_are_refused_and_nothing_else_happens(name, limits, tmp_path):
    command = [sys.executable, str(FUZZ / f"{name}.py"), *limits, "--seed", "20", "--keep", str(tmp_path / "kept")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" in done.stdout and not (tmp_path / "kept").exists()


def test_files_of_a_package_without_torch_stay_and_those_with_it_keep_their_comments(tmp_path):
    """A sample: the rest of what is installed takes hours."""
    import click

    folders = [str(Path(click.__file__).parent), str(Path(__file__).parents[1] / "projects")]
    command = [sys.executable, str(FUZZ / "corpus.py"), *folders, "--files", "25", "--seed", "3"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
