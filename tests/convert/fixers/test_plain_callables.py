"""A lambda that makes tensors is no network: nobody asks it for its parameters."""

from __future__ import annotations

from mindferry import convert_source

CODE = """import numpy as np
import torch

rng = np.random.RandomState(0)
draw = lambda *size: torch.from_numpy(rng.rand(*size).astype(np.float32))
w = torch.ones(3, requires_grad=True)
{}
loss.backward()
"""


def test_a_lambda_that_draws_is_called_in_a_loss_and_trains_nothing() -> None:
    made = convert_source(CODE.format("loss = (w * draw(4, 3)).sum()"))
    assert "(forward_fn, [w])" in made.code and not made.findings


def test_a_lambda_that_runs_a_network_is_not_passed_over() -> None:
    made = convert_source(CODE.format("net = torch.nn.Linear(3, 1)\nrun = lambda x: net(x).sum()\nloss = run(w)"))
    assert "(forward_fn, [w])" not in made.code
