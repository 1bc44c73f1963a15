"""Networks are in training mode where they are made; parts of other networks keep the mode that they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

NET = """
def build():
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    for index, p in enumerate(net.parameters()):
        nn.init.constant_(p, 0.3 * (index + 1))
    net.eval()
    return net

def train(net, x, opt):
    loss = net(x).sum()
    loss.backward()
    opt.step()

def run():
    net = build()
    x = torch.linspace(-1, 1, 15).reshape(5, 3)
    MADE
    return made(x).detach().numpy()
"""


@pytest.mark.parametrize(
    "made",
    [
        "made = nn.Sequential(*list(net.children())[:-1])",
        "parts = list(net.children())[:2]\n    made = nn.Sequential(*parts)",
        "made = nn.Sequential(net[0], net[1])",
        "made = nn.Sequential(net, nn.Linear(2, 2))\n    nn.init.constant_(made[1].weight, 0.2)\n    nn.init.zeros_(made[1].bias)",
    ],
)
def test_parts_of_a_network_that_evaluates_go_on_evaluating(both: Any, made: str) -> None:
    theirs, ours = both(NET.replace("MADE", made))
    assert np.std(theirs) > 0
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_what_a_class_method_makes_is_a_network(both: Any) -> None:
    theirs, ours = both(
        """
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(2, width)
        self.norm = nn.BatchNorm1d(width)

    @classmethod
    def made(cls, width):
        net = cls(width)
        nn.init.constant_(net.inner.weight, 0.5)
        nn.init.zeros_(net.inner.bias)
        net.eval()
        return net

    def forward(self, x):
        return self.norm(self.inner(x))

def run():
    x = torch.linspace(-1, 1, 8).reshape(4, 2)
    return Net.made(3)(x).detach().numpy()
"""
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_a_field_of_what_a_network_returns_is_a_loss(both: Any) -> None:
    """`model(x).loss`: no tensor has that, so the network returned something else."""
    theirs, ours = both(
        """
from types import SimpleNamespace

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 1)

    def forward(self, x):
        out = self.inner(x)
        return SimpleNamespace(loss=(out ** 2).mean(), logits=out)

def run():
    model = Net()
    nn.init.constant_(model.inner.weight, 0.5)
    nn.init.zeros_(model.inner.bias)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        loss = model(torch.tensor([[1.0, 2.0]])).loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses
"""
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    assert theirs[0] > theirs[-1]
