"""Lightning projects convert without a finding, need no torch, and record what torch and Lightning recorded (record.py)."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mindferry.artifacts import ProjectConversion
from mindferry.convert import convert_project

HERE = Path(__file__).parent
NAMES = ("classifier", "autoencoder", "gan", "forecaster", "transformer", "hooked", "resumed", "measured", "manual")


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ProjectConversion]:
    out = tmp_path_factory.mktemp("lightning") / "out"
    return out, convert_project(HERE / "projects", out)


@pytest.fixture(scope="module")
def records(converted: tuple[Path, ProjectConversion]) -> dict[str, Any]:
    """One process runs them all: importing MindSpore takes longer than training."""
    folder, _ = converted
    command = [sys.executable, "run_all.py", "records.json", *NAMES]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads((folder / "records.json").read_text())
    return found


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((HERE / "reference.json").read_text())
    return found


def differences(expected: Any, found: Any, tolerance: float, place: str = "") -> list[str]:
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        return [
            each for key in expected for each in differences(expected[key], found[key], tolerance, f"{place}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [each for i, (a, b) in pairs for each in differences(a, b, tolerance, f"{place}[{i}]")]
    if isinstance(expected, float) and isinstance(found, float | int):
        is_same = math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance)
        return [] if is_same else [f"{place}: {expected} with Lightning, {found} here"]
    return [] if expected == found else [f"{place}: {expected} with Lightning, {found} here"]


@pytest.mark.parametrize("name", NAMES)
def test_losses_are_those_of_lightning(name: str, records: dict[str, Any], reference: dict[str, Any]) -> None:
    assert len(reference[name]["losses"]) >= 6
    assert differences(reference[name]["losses"], records[name]["losses"], 1e-5) == []


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_recorded_is_that_of_lightning(
    name: str, records: dict[str, Any], reference: dict[str, Any]
) -> None:
    """Learning rates, steps, logged values, weights, files; the order of hooks; what test and predict return."""
    assert differences(reference[name], records[name], 1e-4) == []


def test_nothing_of_torch_or_lightning_is_left(converted: tuple[Path, ProjectConversion]) -> None:
    folder, conversion = converted
    assert [each for each in _findings(conversion) if each.severity != "note"] == []
    for path in sorted(folder.glob("*.py")):
        for line in path.read_text().splitlines():
            assert not line.strip().startswith(("import torch", "from torch", "import pytorch_l", "from pytorch_l")), (
                path
            )
            assert not line.strip().startswith(("import lightning", "from lightning")), path


def _findings(conversion: ProjectConversion) -> list[Any]:
    return [finding for file in conversion.files for finding in file.findings]
