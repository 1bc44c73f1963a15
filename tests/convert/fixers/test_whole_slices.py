"""What `p[:] = value` writes into a parameter is there, and an optimizer still moves the parameter afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_frameworks import load

import mindferry

SOURCE = """import torch
from torch import nn


def zero(t):
    t[:] = 0


def fill(m):
    m.weight[...] = 0.25


def trained():
    net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.Conv1d(2, 2, 1), nn.Linear(1, 1))
    with torch.no_grad():
        net[0].weight[:] = torch.linspace(-1, 1, 12).reshape(4, 3)
        net[1].weight.data[:, :] = torch.tensor([0.1, 0.2, 0.3, 0.4])
        net[1].bias[:] = 0.5
        fill(net[3])
        for name, value in net[2].state_dict().items():
            value[:] = 0.5
        zero(net[0].bias)
        for p in net[3].parameters():
            p.data[...] = p * 2 if p.dim() > 1 else torch.ones(1)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    x = torch.ones(2, 3)
    for _ in range(2):
        out = net[3](net[2](net[1](net[0](x)).unsqueeze(-1)))
        loss = (out**2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [loss.item()] + [p.sum().item() for p in net.parameters()]


def others():
    rows, items = torch.zeros(3), [1, 2]
    rows[:] = 4
    items[:] = [3]
    zero(rows)
    return [rows.sum().item(), items[0]]


class Standing(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x, statistics):
        mean = statistics(x)
        self.mean[:] = self.mean * 0.5 + mean.data
        return x - mean


def standing():
    net = Standing()
    for k in range(2):
        net(torch.arange(6.0).view(2, 3) + k, lambda x: x.mean(0, keepdim=True))
    return net.mean.tolist()
"""


@pytest.mark.parametrize("name", ["trained", "others", "standing"])
def test_what_is_written_whole_into_a_parameter_is_trained_as_in_torch(name: str, tmp_path: Path) -> None:
    theirs = load(SOURCE, tmp_path / "theirs.py")
    ours = load(mindferry.convert_source(SOURCE).code, tmp_path / "ours.py")
    assert getattr(ours, name)() == pytest.approx(getattr(theirs, name)(), rel=1e-5, abs=1e-6)
