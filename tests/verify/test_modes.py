"""Dropout with shared masks, mixed precision, real training steps: each passes on a right conversion and fails on a wrong one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mindferry.artifacts import Comparison, load
from mindferry.cli.verify import command
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.testing import Pair

from .twins import RESNET

DROPPING = """import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return x + self.drop(torch.relu(self.fc(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.spatial = nn.Dropout2d(0.4)
        self.blocks = nn.ModuleList([Block(0.25), Block(0.25)])
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = self.spatial(self.conv(x)).mean((2, 3))
        for block in self.blocks:
            x = block(F.dropout(x, 0.3, self.training))
        return self.head(x)
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def dropping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with four kinds of dropout, its toml, and its real conversion in `ours`."""
    folder = tmp_path_factory.mktemp("dropping")
    (folder / "theirs").mkdir()
    (folder / "theirs" / "net.py").write_text(DROPPING)
    (folder / "theirs" / "mindferry.toml").write_text(
        '[verify]\nmodel = "net:Net"\ninputs = ["float32[4,3,9,9]"]\nmodes = "eval,train"\ndropout = "shared"\n'
    )
    convert_project(folder / "theirs", folder / "ours")
    return folder


def test_the_references_masks_are_replayed_by_module_path(dropping: Path) -> None:
    result = run(dropping / "ours")
    assert result.exit_code == 0, result.output
    found = {
        (d.mode, d.name): d for d in load(Comparison, dropping / "ours", "verify").differences if d.kind == "output"
    }
    assert ("train", "blocks.0.drop") in found and ("train", "spatial") in found


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Block(0.25), Block(0.25)", "Block(0.25), Block(0.35)", "First divergence: blocks.1.drop"),
        ("0.3, ", "0.2, ", "drops 0.2 of its"),
        ("self.spatial(self.conv(x))", "self.conv(x)", "First divergence: spatial"),
    ],
)
def test_a_wrong_rate_or_a_forgotten_dropout_is_found(dropping: Path, before: str, after: str, said: str) -> None:
    path = dropping / "ours" / "net.py"
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    try:
        result = run(dropping / "ours")
        assert result.exit_code == 1 and said in result.output, result.output
    finally:
        path.write_text(text)


@pytest.mark.parametrize(("change", "code"), [(("", ""), 4), (("y = y + x", "y = y + 1.02 * x"), 1)])
def test_mixed_precision_is_compared_with_torchs_autocast(tmp_path: Path, change: tuple[str, str], code: int) -> None:
    twin = RESNET.mutate(*change) if code == 1 else RESNET  # 4: eval and train were not asked for
    torch_side, mindspore_side = twin.write(tmp_path)
    result = run(
        mindspore_side, "--torch", torch_side, "--model", "net:Net", "--input", "float32[4,3,16,16]", "--modes", "amp"
    )
    assert result.exit_code == code, result.output
    row = next(d for d in load(Comparison, mindspore_side, "verify").differences if d.mode == "amp")
    assert 1e-5 < row.own_reference_error < 1e-2  # torch's own float16 error
    assert row.own_tolerance >= 4 * 2.0**-11 and (row.own_error <= row.own_tolerance) == (code == 4)


LOSSES = (
    "def loss(output, target):\n    return F.cross_entropy(output, target)\n",
    "def loss(output, target):\n    return ops.cross_entropy(output, target)\n",
)


@pytest.mark.parametrize("change", [(), ("learning_rate=0.1, momentum=0.9", "learning_rate=0.08, momentum=0.9")])
def test_real_training_steps_are_compared_by_their_losses(tmp_path: Path, change: tuple[str, ...]) -> None:
    twin = RESNET.mutate(*change) if change else RESNET
    twin = replace(twin, torch=twin.torch + LOSSES[0], mindspore=twin.mindspore + LOSSES[1])
    torch_side, mindspore_side = twin.write(tmp_path)
    (torch_side / "mindferry.toml").write_text(
        '[verify]\nmodel = "net:Net"\ninputs = ["float32[8,3,16,16]"]\nmodes = "train"\nsteps = 5\n'
        'loss = "net:loss"\ntargets = ["int64[8]@0..10"]\noptimizer = "net:optimizer"\n'
    )
    result = run(mindspore_side, "--torch", torch_side)
    rows = [d for d in load(Comparison, mindspore_side, "verify").differences if d.mode == "steps"]
    assert [d.name for d in rows] == [f"step {number}" for number in range(1, 6)]
    assert rows[0].passed and all(d.passed for d in rows) == (not change)
    assert result.exit_code == (1 if change else 4), result.output  # 4: eval was not asked for


def test_dropout_inside_a_helper_is_off_in_tests_of_cells(tmp_path: Path) -> None:
    """`Pair` lets go of the converted project's modules, ms_compat among them."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "net.py").write_text(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.attn = nn.MultiheadAttention(16, 4, dropout=0.5, batch_first=True)\n\n"
        "    def forward(self, x):\n        return self.attn(x, x, x)[0]\n"
    )
    convert_project(tmp_path / "theirs", tmp_path / "ours")
    Pair(tmp_path / "theirs", tmp_path / "ours").check("net:Net", inputs="float32[2,5,16]")


def test_an_unknown_kind_of_dropout_is_refused(tmp_path: Path) -> None:
    torch_side, mindspore_side = RESNET.write(tmp_path)
    (torch_side / "mindferry.toml").write_text('[verify]\nmodel = "net:Net"\ninputs = ["float32[1]"]\ndropout = "on"\n')
    result = run(mindspore_side, "--torch", torch_side)
    assert isinstance(result.exception, MindferryError) and "choose off, or shared" in str(result.exception)
