"""The parameters of networks that a loss takes in turn are those of all of them, named before any loop has run."""

from __future__ import annotations

import pytest

from mindferry import convert_source

CODE = """import random
import torch
from torch import nn

nets = [nn.Linear(3, 3) for _ in range(2)]
heads = nn.ModuleList(nn.Linear(3, 2) for _ in range(2))
x = torch.ones(4, 3)
{}
loss.backward()
"""


@pytest.mark.parametrize(
    ("loss", "asked"),
    [
        ("loss = sum(n(x).sum() for n in nets)", "parameters_of(*nets)"),
        ("loss = 0\nfor n in nets:\n    loss = loss + n(x).sum()", "parameters_of(*nets)"),
        ("loss = 0\nfor i, n in enumerate(nets):\n    loss = loss + i * n(x).sum()", "parameters_of(*nets)"),
        (
            "loss = 0\nfor w, (n, h) in zip((1, 2), zip(nets, heads)):\n    loss = loss + w * h(n(x)).sum()",
            "parameters_of(*heads, *nets)",
        ),
        (
            "loss = 0\nfor i in range(3):\n    n = nets[i % 2]\n    loss = loss + n(x).sum()",
            "parameters_of(*(n for i in range(3) for n in [nets[i % 2]]))",
        ),
    ],
)
def test_networks_of_a_loop_are_named_by_what_it_goes_through(loss: str, asked: str) -> None:
    made = convert_source(CODE.format(loss))
    assert f"(forward_fn, {asked}" in made.code and not made.findings


def test_networks_that_are_drawn_can_not_be_named_beforehand() -> None:
    loss = "loss = 0\nfor n in random.sample(nets, 2):\n    loss = loss + n(x).sum()"
    made = convert_source(CODE.format(loss))
    assert "n.trainable_params()" not in made.code
    assert [each.severity for each in made.findings] == ["error"]
