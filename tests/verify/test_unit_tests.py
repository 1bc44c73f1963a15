"""`mindferry convert --tests`: one test for each cell, runnable by pytest, red where the conversion is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.cli.convert import command
from mindferry.cli.observe import command as observe

MODEL = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels, slope=0.1):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.act = nn.LeakyReLU(slope)

    def forward(self, x):
        return x + self.act(self.conv(x))


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return self.fc(x.mean((2, 3)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.block = Block(8)
        self.head = Head()

    def forward(self, x):
        return self.head(self.block(self.stem(x)))
"""
LOSSES = """from torch import nn

from model import Block


class Wide(Block):
    pass


class Loss(nn.Module):
    def forward(self, output, target):
        return ((output - target) ** 2).mean()


class Sized(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x):
        return self.fc(x)


class Flat(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.fc = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc(x.reshape(-1, self.fc.in_features))
"""


def converted(tmp_path: Path, toml: str) -> Path:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "model.py").write_text(MODEL)
    (tmp_path / "theirs" / "losses.py").write_text(LOSSES)
    (tmp_path / "theirs" / "mindferry.toml").write_text(toml)
    result = CliRunner().invoke(command, [str(tmp_path / "theirs"), "-o", str(tmp_path / "ours"), "--tests"])
    assert result.exit_code == 0, result.output
    return tmp_path / "ours"


def run(project: Path) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", "tests"],
        cwd=project,
        capture_output=True,
        text=True,
    )
    return result.stdout


@pytest.mark.parametrize(
    "toml", ['[verify]\nmodel = "model:Net"\ninputs = ["float32[2,3,9,9]"]\n', ""], ids=["network named", "alone"]
)
def test_every_cell_gets_a_test_and_a_wrong_one_is_red(tmp_path: Path, toml: str) -> None:
    project = converted(tmp_path, toml)
    said = run(project)
    passed = ["test_flat", "test_block", "test_net"] + (["test_head"] if toml else [])
    assert all(f"::{name} PASSED" in said for name in passed), said
    skipped = {
        "test_loss": "forward of Loss takes output, target",
        "test_wide": "no call in the project says what channels of Wide are",
        "test_sized": "no call in the project says what size of Sized are",
        **({} if toml else {"test_head": "torch's own Head does not take float32[2,8]"}),
    }
    for name, why in skipped.items():
        assert f"::{name} SKIPPED" in said and why in said, said
    text = (project / "model.py").read_text()
    (project / "model.py").write_text(text.replace("return x + self.act", "return x - self.act"))
    said = run(project)
    assert "::test_block FAILED" in said and "::test_flat PASSED" in said and "First divergence" in said


def test_a_second_conversion_keeps_the_tests_and_spares_the_projects_own(tmp_path: Path) -> None:
    project = converted(tmp_path, "")
    own = project / "tests" / "test_model.py"
    own.write_text("def test_mine() -> None:\n    assert True\n")
    result = CliRunner().invoke(command, [str(tmp_path / "theirs"), "-o", str(project), "--tests"])
    assert result.exit_code == 0, result.output
    assert "test_mine" in own.read_text() and "PAIR.check" in (project / "tests" / "test_model_cells.py").read_text()
    assert "torch" not in "".join(
        line
        for path in project.glob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith(("import", "from"))
    )


def test_a_network_that_was_observed_is_tested_on_what_it_was_called_with(tmp_path: Path) -> None:
    project = tmp_path / "theirs"
    project.mkdir()
    (project / "net.py").write_text(
        "from torch import nn\n\n\nclass Scaled(nn.Module):\n    def __init__(self, width=5):\n        super().__init__()\n"
        "        self.fc = nn.Linear(width, 3)\n\n    def forward(self, x, scale):\n        return self.fc(x.mean((2, 3))) * scale\n"
    )
    (project / "run.py").write_text(
        "import torch\nfrom net import Scaled\n\nif __name__ == '__main__':\n"
        "    Scaled(width=5)(torch.randn(2, 5, 4, 4), torch.ones(1))\n"
    )
    seen = tmp_path / "seen.observed"
    result = CliRunner().invoke(observe, [str(project), "-o", str(seen), "--", "python", "run.py"])
    assert result.exit_code == 0, result.output
    options = ["-o", str(tmp_path / "ours"), "--observed", str(seen), "--tests"]
    result = CliRunner().invoke(command, [str(project), *options])
    assert result.exit_code == 0, result.output
    assert "::test_scaled PASSED" in run(tmp_path / "ours")
