"""What others plug in: the pre-commit hook does what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from pages import ROOT


def run_hook(folder: Path) -> subprocess.CompletedProcess[str]:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    command = shlex.split(re.search(r"entry: (.*)", text)[1]) + re.findall(
        r'"(.*?)"', re.search(r"args: (.*)", text)[1]
    )
    assert command[0] == "mindferry"
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)


def test_the_hook_passes_what_converts_and_stops_what_does_not(tmp_path):
    (tmp_path / "net.py").write_text("import torch\n\nx = torch.relu(torch.zeros(3))\n")
    assert run_hook(tmp_path).returncode == 0
    (tmp_path / "net.py").write_text("import torch\n\nx = torch.nested.nested_tensor([])\n")
    stopped = run_hook(tmp_path)
    assert stopped.returncode == 1 and "net.py:3" in stopped.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.py"]


def test_the_ci_recipe_leaves_a_file_for_code_scanning_and_fails_on_what_is_left(tmp_path):
    (line,) = re.findall(r"- run: (mindferry .*)", (ROOT / "docs/how-to/ci.md").read_text())
    (tmp_path / "net.py").write_text("import torch\n\nx = torch.nested.nested_tensor([])\n")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-e", "-c", line], cwd=tmp_path, env=environment)
    (run,) = json.loads((tmp_path / "mindferry.sarif").read_text())["runs"]
    assert done.returncode == 1 and [each["ruleId"] for each in run["results"]] == ["MF101"]
    (tmp_path / "net.py").write_text("import torch\n\nx = torch.relu(torch.zeros(3))\n")
    assert subprocess.run(["bash", "-e", "-c", line], cwd=tmp_path, env=environment).returncode == 0
