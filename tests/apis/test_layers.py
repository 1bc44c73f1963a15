"""Layers that a case can't show: lazy ones, random starts, packed sequences, weights computed from others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Both = Callable[[str], tuple[Any, Any]]

STARTS = [
    "nn.Linear(200, 300)",
    "nn.Conv1d(40, 50, 5)",
    "nn.Conv2d(20, 30, 3)",
    "nn.Conv3d(10, 20, 3)",
    "nn.ConvTranspose1d(40, 50, 5)",
    "nn.ConvTranspose2d(20, 30, 3)",
    "nn.ConvTranspose3d(10, 20, 3)",
    "nn.Embedding(200, 100)",
    "nn.LSTM(60, 50)",
    "nn.Bilinear(30, 20, 40)",
    "nn.MultiheadAttention(96, 4)",
    "nn.EmbeddingBag(200, 100)",
]
INITS = [
    "normal_(p, 0.5, 0.1)",
    "uniform_(p, -0.1, 0.3)",
    "trunc_normal_(p, std=0.5, a=-0.6, b=0.9)",
    "xavier_uniform_(p, gain=0.5)",
    "xavier_normal_(p)",
    "kaiming_uniform_(p, a=1)",
    "kaiming_normal_(p, mode='fan_out', nonlinearity='relu')",
    "kaiming_normal_(p, nonlinearity='selu')",
    "orthogonal_(p, 2.0)",
    "constant_(p, 0.3)",
    "ones_(p)",
    "zeros_(p)",
    "sparse_(p, 0.3, 0.5)",
    "eye_(p)",
]


@pytest.mark.parametrize("layer", STARTS)
def test_a_layer_starts_from_torchs_distribution(layer: str, both: Both) -> None:
    body = f"def run():\n    return {{n: p.detach().numpy() for n, p in {layer}.named_parameters()}}\n"
    theirs, ours = both(body)
    assert list(theirs) == list(ours)
    for name, values in theirs.items():
        tolerance = 0.1 if values.size > 500 else 0.6  # of few values, the moments are far apart
        assert np.isclose(np.std(values), np.std(ours[name]), rtol=tolerance, atol=1e-6), name
        assert np.isclose(np.abs(values).max(), np.abs(ours[name]).max(), rtol=max(tolerance, 0.3), atol=1e-6), name


@pytest.mark.parametrize("call", INITS)
@pytest.mark.parametrize("start", ["nn.Linear(150, 200)", "nn.Conv2d(150, 200, 1)"])
def test_an_init_function_draws_from_torchs_distribution(call: str, start: str, both: Both) -> None:
    if "Conv2d" in start and call.startswith(("sparse_", "eye_")):
        return  # torch wants two axes
    for target in ("m.weight", "m.weight.data"):
        body = f"def run():\n    m = {start}\n    nn.init.{call.replace('(p', f'({target}')}\n    return m.weight.detach().numpy()\n"
        theirs, ours = both(body)
        assert theirs.shape == ours.shape
        for moment, atol in (
            (np.mean, 0.01),
            (np.std, 0.005),
            (np.min, 0.6),
            (np.max, 0.6),
        ):  # the ends of a normal sample vary
            assert np.isclose(moment(theirs), moment(ours), rtol=0.1, atol=atol), (target, moment)


@pytest.mark.parametrize(
    "layer",
    [
        "LazyLinear(4)",
        "LazyConv2d(4, 3)",
        "LazyConvTranspose1d(4, 3)",
        "LazyBatchNorm2d()",
        "LazyInstanceNorm1d(affine=True)",
    ],
)
def test_a_lazy_layer_learns_its_size_from_the_first_input(layer: str, both: Both) -> None:
    rank = 2 if "2d" in layer else 1
    body = f"""
def run():
    m = nn.{layer}
    y = m(torch.ones(2, 3{", 6" * rank}))
    return tuple(y.shape), [(n, tuple(p.shape)) for n, p in m.named_parameters()]
"""
    theirs, ours = both(body)
    squeezed = [(name, tuple(size for size in shape if size != 1)) for name, shape in ours[1]]
    assert ours[0] == theirs[0]
    assert squeezed == [(name, tuple(size for size in shape if size != 1)) for name, shape in theirs[1]]


def test_a_padding_row_gets_no_gradient_and_starts_at_zero(both: Both) -> None:
    body = "def run():\n    return nn.Embedding(5, 3, padding_idx=2).weight.detach().numpy()\n"
    theirs, ours = both(body)
    assert not theirs[2].any() and not ours[2].any() and ours[1].any()


@pytest.mark.parametrize("kind", ["weight_norm", "spectral_norm"])
def test_a_computed_weight_follows_its_factors_and_settles(kind: str, both: Both) -> None:
    factor = "weight_g" if kind == "weight_norm" else "weight_orig"
    body = f"""
from torch.nn.utils import {kind}, remove_{kind}

def run():
    net = nn.Sequential({kind}(nn.Linear(3, 2, bias=False)))
    nn.init.constant_(net[0].{factor}, 2.0)
    net.train()
    for _ in range(20):
        y = net(torch.ones(1, 3))
    net.eval()
    before = sorted(n for n, _ in net.named_parameters())
    remove_{kind}(net[0])
    after = sorted(n for n, _ in net.named_parameters())
    return before, after, float((net(torch.ones(1, 3)) - y).abs().max()) < 1e-4
"""
    theirs, ours = both(body)
    assert ours == theirs


@pytest.mark.parametrize("kind", ["weight_norm", "spectral_norm"])
@pytest.mark.parametrize("layer", ["nn.Linear(3, 2)", "nn.Conv1d(3, 2, 2)", "nn.Conv2d(3, 2, 2)"])
def test_first_weights_may_be_written_into_a_computed_weight(kind: str, layer: str, both: Both) -> None:
    body = f"""
from torch.nn.utils import {kind}

def run():
    net = nn.Sequential({kind}({layer}))
    nn.init.constant_(net[0].bias, 0.0)
    net[0].weight.data.fill_(0.5)
    x = torch.ones(*[2, 3, 4, 4][:net[0].weight.dim()])
    net.train()
    for _ in range(9):
        y = net(x)
    factor = net[0].weight_orig if hasattr(net[0], "weight_orig") else None
    return y.shape[1:], None if factor is None else (float(factor.sum()), round(float(y.sum()), 3))
"""
    theirs, ours = both(body)
    assert (tuple(ours[0]), ours[1]) == (tuple(theirs[0]), theirs[1])
