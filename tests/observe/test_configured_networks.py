"""A network that is made of a configuration, and called on a dictionary and a state, is compared like any other one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.observation import load_observation
from mindferry.observe.use import comparables, makes_records

SETTINGS = """import enum
from dataclasses import dataclass, field
from typing import NamedTuple


class Cell(enum.Enum):
    LSTM = "lstm"
    GRU = "gru"


class Sizes(NamedTuple):
    inside: int
    out: int = 3


class Loose:
    def __init__(self, path):
        self.scale = len(path) / 2


class Tree(dict):
    __getattr__ = dict.__getitem__


@dataclass
class Settings:
    cell: Cell
    sizes: Sizes
    loose: Loose
    tree: Tree
    names: list = field(default_factory=list)
"""
NET = """import torch
from torch import nn

from settings import Cell


class Reader(nn.Module):
    def __init__(self, settings, options, bias):
        super().__init__()
        self.options = options
        kind = nn.LSTM if settings.cell is Cell.LSTM else nn.GRU
        self.scale = settings.loose.scale * settings.tree.inner.gain
        self.rnn = kind(4, settings.sizes.inside, batch_first=True, bias=bias(options))
        self.out = nn.Linear(settings.sizes.inside, len(settings.names), device=options.device, dtype=options.dtype)

    def forward(self, state, batch, masks=()):
        y, state = self.rnn(batch["x"] * self.scale, state)
        y = y * batch["more"]["weight"] + batch["offset"]
        for mask in masks:
            y = y * mask
        return {"logits": self.out(y), "state": state}
"""
TRAIN = """import argparse

import torch

from net import Reader
from settings import Cell, Loose, Settings, Sizes, Tree


def has_bias(options):
    return options.bias


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bias", action="store_true")
    args = parser.parse_args(["--bias"])
    args.device, args.dtype = torch.device("cpu"), torch.float32
    settings = Settings(Cell.LSTM, Sizes(5), Loose("a path"), Tree(inner=Tree(gain=0.5)), ["a", "b"])
    torch.manual_seed(3)
    net = Reader(settings, args, has_bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    state = torch.randn(1, 2, 5), torch.randn(1, 2, 5)
    batch = {"x": torch.randn(2, 6, 4), "offset": 0.25, "more": {"weight": torch.rand(2, 6, 5)}}
    for step in range(3):
        optimizer.zero_grad()
        loss = net(state, batch, masks=[torch.rand(2, 6, 1), torch.rand(5)])["logits"].square().mean()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
"""


def run(folder: Path, *words: str) -> str:
    words = (sys.executable, "-m", "mindferry", *words)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("configured")
    (folder / "project").mkdir()
    for name, text in {"settings": SETTINGS, "net": NET, "train": TRAIN}.items():
        (folder / "project" / f"{name}.py").write_text(text)
    run(folder, "observe", "project", "-o", "seen.zip", "--", "python", "train.py")
    run(folder, "convert", "project", "-o", "converted", "--observed", "seen.zip")
    return folder


def test_the_network_is_made_again_on_both_sides_and_compared(folder: Path) -> None:
    seen = load_observation(folder / "seen.zip")
    found, missing = comparables(seen, folder / "seen.zip", folder / "inputs")
    assert not missing
    (network,) = found
    assert network.model == (
        "net:Reader(settings=settings.Settings(cell=settings.Cell.LSTM, sizes=settings.Sizes(inside=5, out=3), "
        "loose=object(settings.Loose, scale=3.0), tree=settings.Tree({'inner': settings.Tree({'gain': 0.5})}), "
        "names=['a', 'b']), options=argparse.Namespace(bias=True, device=torch.device('cpu'), dtype=torch.float32), "
        "bias=train.has_bias)"
    )
    words = [word for spec in network.inputs for word in ("--input", spec)]
    told = run(
        folder,
        "verify",
        "converted",
        "--torch",
        "project",
        "--model",
        network.model,
        *words,
        "--weights",
        network.weights,
    )
    assert "Same" in told


@pytest.mark.parametrize(
    "text", ["os.system('true')", "net.Reader.zero_grad()", "builtins.exec('1')", "open('x')", "net.torch.load('x')"]
)
def test_an_observation_from_elsewhere_makes_no_other_call(folder: Path, text: str) -> None:
    assert not makes_records(text, folder / "project")
    assert not makes_records(f"argparse.Namespace(x=[{text}])", folder / "project")
