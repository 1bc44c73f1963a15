"""The projects of this folder, run by TensorFlow and, converted, by MindSpore: one process each."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROJECTS = sorted(path for path in (HERE / "projects").iterdir() if (path / "train.py").is_file())
REASON = "tensorflow is not installed: scripts/setup installs it"
ENVIRONMENT = {"TF_CPP_MIN_LOG_LEVEL": "3", "ONEDNN_MAX_CPU_ISA": "AVX2", "CUDA_VISIBLE_DEVICES": ""}


def has_tensorflow() -> bool:
    return importlib.util.find_spec("tensorflow") is not None


def run(folders: list[Path], scratch: Path) -> dict[str, dict[str, str]]:
    """What each project printed, and its error."""
    environment = {**os.environ, **ENVIRONMENT}
    command = [sys.executable, str(HERE / "run_projects.py"), *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=scratch)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"project"')]
    assert len(rows) == len(folders), done.stderr[-3000:]
    return {row["project"]: row for row in rows}
