"""A lambda that makes tensors is no network: nobody asks it for its parameters. What a loss calls is not handed to its gradient function."""

from __future__ import annotations

from two_frameworks import Both, same

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


def test_functions_that_a_loop_binds_anew_are_called_and_not_handed_over(both: Both) -> None:
    theirs, ours = both("""
from functools import partial
from torch.nn import functional as F

class Weighted:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, out, wanted):
        return self.weight * (out - wanted).abs().mean()

def focal(out, wanted, gamma):
    return (out - wanted).abs().pow(gamma).mean()

def run():
    net, losses = nn.Linear(6, 1), []
    net.load_state_dict({"weight": torch.full((1, 6), 0.1), "bias": torch.zeros(1)})
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x = torch.from_numpy(X)
    for epoch in range(3):
        act = [torch.relu, torch.sigmoid, lambda v: v][epoch]
        crit, extra = partial(focal, gamma=1.0 + epoch), Weighted(0.5**epoch)
        reg = F.l1_loss if epoch % 2 else F.mse_loss
        for rows in (x[:2], x[2:]):
            optimizer.zero_grad()
            out = act(net(rows))
            wanted = rows.sum(1, keepdim=True)
            loss = crit(out, wanted) + extra(out, wanted) + reg(out, wanted)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, plain(net.weight)
""")
    assert same(ours, theirs)
