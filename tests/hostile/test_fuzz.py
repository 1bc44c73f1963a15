"""The reader fuzzer, for a few seconds from a fixed seed; CI runs a minute of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FUZZER = Path(__file__).parents[2] / "fuzz" / "weights.py"


def test_broken_files_are_refused_and_nothing_else_happens(tmp_path):
    command = [sys.executable, str(FUZZER), "--seconds", "5", "--seed", "20", "--keep", str(tmp_path / "kept")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "refused" in done.stdout and not (tmp_path / "kept").exists()
