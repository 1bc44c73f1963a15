"""`if loss.requires_grad: loss.backward()`: true in an optimizer's closure, and named elsewhere, where it would always say no."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_frameworks import load

import mindferry

CLOSURE = """import torch
from torch import nn


def fitted():
    net, criterion = nn.Linear(3, 1), nn.MSELoss()
    nn.init.constant_(net.weight, 0.2)
    nn.init.zeros_(net.bias)
    x = torch.linspace(-1, 1, 12).reshape(4, 3)
    y = x.sum(1, keepdim=True).sin()
    optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=3)

    def closure():
        if torch.is_grad_enabled():
            optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss = loss + 1e-3 * sum(p.pow(2).sum() for p in net.parameters())
        if loss.requires_grad:
            loss.backward()
        return loss

    return [float(optimizer.step(closure)) for _ in range(3)]
"""
EPOCH = """import torch


def run(net, loader, optimizer):
    for x, y in loader:
        loss = net(x, y)
        if loss.requires_grad:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""


def test_a_closure_that_asks_its_loss_for_a_gradient_is_differentiated(tmp_path: Path) -> None:
    theirs = load(CLOSURE, tmp_path / "theirs.py")
    ours = load(mindferry.convert_source(CLOSURE).code, tmp_path / "ours.py")
    assert ours.fitted() == pytest.approx(theirs.fitted(), rel=1e-4)


def test_a_step_that_asks_its_loss_whether_to_train_is_a_finding() -> None:
    findings = mindferry.convert_source(EPOCH).findings
    assert "MF101" in [each.code for each in findings if "loss.requires_grad" in each.message]
