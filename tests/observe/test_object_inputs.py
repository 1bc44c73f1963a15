"""Networks that are called with objects of the project's own are compared by themselves, on what the run gave them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from mindferry.artifacts import Comparison, Outcome, load
from mindferry.cli import cli
from mindferry.verify.nested_inputs import NESTED, call

TRAIN = """from dataclasses import dataclass
from typing import NamedTuple, Optional

import torch
from torch import nn


class Row(NamedTuple):
    x: torch.Tensor
    scale: float


@dataclass
class Batch:
    rows: list
    mask: torch.Tensor
    weight: Optional[torch.Tensor] = None
    names: tuple = ()

    def total(self):
        return self.mask.sum(dim=1, keepdim=True).float()


class Bag(dict):
    def __init__(self, **parts):
        super().__init__(**parts)
        self.bias = torch.full((3,), 0.25)

    def pair(self):
        return self["a"], self["b"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(5, 4)

    def forward(self, batch):
        x = sum(row.x * row.scale for row in batch.rows)
        if batch.weight is not None:
            x = x * batch.weight
        return self.fc(x.masked_fill(~batch.mask, 0.1)) / batch.total()


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, given, flag=False):
        bag, extra = given
        a, b = bag.pair()
        return torch.tanh(self.fc(a - b)) + bag.bias * extra


def main():
    torch.manual_seed(1)
    net, pairs = Net(), Pairs()
    opt = torch.optim.SGD([*net.parameters(), *pairs.parameters()], lr=0.1)
    for _ in range(3):
        rows = [Row(torch.randn(6, 5), 0.5), Row(torch.randn(6, 5), 2.0)]
        batch = Batch(rows, torch.rand(6, 5) > 0.3, names=("p", "q"))
        out = net(batch)
        loss = pairs((Bag(a=out, b=torch.randn(6, 4)), 2.0)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
"""


def test_an_object_is_put_together_for_each_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "objects_given.py").write_text(TRAIN.split("class Net(")[0])
    monkeypatch.syspath_prepend(str(tmp_path))
    named = {
        "*0(0){objects_given:Bag['a']}": torch.ones(2),
        "*0(0){objects_given:Bag.bias}": torch.zeros(3),
        "*0(1)": 2.0,
        "batch{objects_given:Batch.rows}[0]{objects_given:Row.x}": torch.ones(1),
        "batch{objects_given:Batch.rows}[0]{objects_given:Row.scale}": 0.5,
        "batch{objects_given:Batch.weight}": None,
    }
    assert all(map(NESTED.fullmatch, named))
    given, batch = call(lambda given, batch: (given, batch), [], named)
    assert type(given) is tuple and type(given[0]).__name__ == "Bag" and list(given[0]) == ["a"] and given[1] == 2.0
    assert given[0].bias.shape == (3,) and type(batch).__name__ == "Batch" and batch.weight is None
    assert batch.rows[0].scale == 0.5 and batch.rows[0] == (torch.ones(1), 0.5)


def test_they_are_compared_and_a_fault_in_them_is_found(tmp_path: Path) -> None:
    source, output = tmp_path / "project", tmp_path / "out"
    source.mkdir()
    (source / "train.py").write_text(TRAIN)
    done = CliRunner().invoke(cli, ["migrate", str(source), "-o", str(output), "--", "python", "train.py"])
    assert done.exit_code == 0 and "behaves like the original" in done.output, done.output
    compared = load(Comparison, output, "verify")
    assert compared.outcome is Outcome.SAME
    assert {row.name.partition(".")[0] for row in compared.differences if row.kind == "gradient"} >= {"Net", "Pairs"}
    code = (output / "train.py").read_text()
    assert "batch.total()" in code
    (output / "train.py").write_text(code.replace("/ batch.total()", "/ (batch.total() + 0.01)"))
    again = CliRunner().invoke(cli, ["verify", str(output)])
    assert again.exit_code == 1 and "Net" in again.output, again.output
