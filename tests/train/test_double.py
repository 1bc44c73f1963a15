"""The reference's run in float64: with the first run's numbers, and without a trace in what the first run left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from mindferry.frameworks.process import Worker
from mindferry.frameworks.requests import TrainRequest
from mindferry.train.double import ROUNDED, moved, record_double
from mindferry.train.reference import record

UNSEEDED = """
import random
import numpy as np, torch
from torch import nn
net = nn.Linear(4, 3)
rows = torch.tensor([[random.random() for _ in range(4)] for _ in range(6)]) + torch.from_numpy(np.random.rand(6, 4)).float()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(4):
    loss = (nn.Linear(3, 2)(net(rows + torch.randn(6, 4))) ** 2).mean() + random.random()
    opt.zero_grad(); loss.backward(); opt.step()
    torch.save(net.state_dict(), "net.pth")
"""


def test_numbers_that_nobody_seeds_are_those_of_the_first_run_which_stays_as_it_was(tmp_path: Path) -> None:
    project, exchange = tmp_path / "project", tmp_path / "exchange"
    project.mkdir()
    exchange.mkdir()
    (project / "train.py").write_text(UNSEEDED)
    request = TrainRequest(str(exchange), "train.py", (), 4)
    with Worker("torch", project) as worker:
        first = worker.ask(record, request)
    left = {each.name: each.read_bytes() for each in exchange.iterdir()}
    with Worker("torch", project) as worker:
        double = worker.ask(record_double, replace(request, has_optimizer=first.has_optimizer))
    assert (double.losses, double.why) == (pytest.approx([each.loss for each in first.steps], rel=1e-5), "")
    assert {each.name: each.read_bytes() for each in exchange.iterdir()} == left


def test_weights_are_moved_by_what_another_framework_rounds_away(tmp_path: Path) -> None:
    weights = torch.rand(50, 3) + 1
    far = ((moved(weights, 1) - weights) / weights).abs()
    assert 1e-7 < far.mean() < far.max() <= ROUNDED
    assert moved(weights, 1).equal(moved(weights, 1)) and not moved(weights, 1).equal(moved(weights, 2))
    assert moved(torch.arange(3), 1).equal(torch.arange(3))
