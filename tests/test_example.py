"""The bundled example: converted without a finding, and the result stands on its own."""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.analyze import analyze_project
from mindferry.convert import convert_project

EXAMPLE = Path(__file__).parents[1] / "examples" / "resnet50_cifar10"
BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torchvision", "mindferry"):
            raise ImportError(f"{name} is not to be had here")

sys.meta_path.insert(0, Blocker())
"""


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("example") / "resnet50_ms"
    result = convert_project(EXAMPLE, output)
    assert [str(finding) for finding in result.findings if finding.severity != "note"] == []
    return output


def run(project: Path, *arguments: str) -> str:
    """Run Python in the project where neither torch nor mindferry can be imported."""
    site = project.parent / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(BLOCKER)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    result = subprocess.run([sys.executable, *arguments], cwd=project, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


def test_nothing_but_rewrites_differs(converted: Path) -> None:
    for name in ("model.py", "data.py", "train.py"):
        before, after = (EXAMPLE / name).read_text().splitlines(), (converted / name).read_text().splitlines()
        gone = [line for line in difflib.ndiff(before, after) if line.startswith("- ")]
        assert len(gone) < 0.35 * len(before)
        comments = [line.strip() for line in before if line.strip().startswith("#")]
        assert all(comment in "\n".join(after) for comment in comments)


def test_it_imports_neither_torch_nor_mindferry(converted: Path) -> None:
    for path in converted.glob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.lstrip().startswith(("import torch", "from torch", "import mindferry", "from mindferry")), (
                f"{path.name}: {line}"
            )


def test_the_converted_project_trains_evaluates_saves_and_reloads_by_itself(converted: Path) -> None:
    run(converted, "-c", "import data; data.write_synthetic('data', train_size=60, test_size=20)")
    trained = run(converted, "train.py", "--epochs", "1", "--image-size", "32", "--batch-size", "20")
    assert "epoch 1 [3/3] loss" in trained
    evaluated = run(
        converted, "train.py", "--eval", "--image-size", "32", "--batch-size", "20", "--weights", "resnet50.ckpt"
    )
    accuracy = trained.rpartition("best test accuracy ")[2].split("%")[0]
    assert f"acc {accuracy}%" in evaluated


def test_every_api_of_the_example_has_a_counterpart() -> None:
    inventory = analyze_project(EXAMPLE)
    assert [use.api for use in inventory.apis if use.kind in ("missing", "unknown")] == []
    assert {module.name for module in inventory.modules} == {"Bottleneck", "ResNet"}
