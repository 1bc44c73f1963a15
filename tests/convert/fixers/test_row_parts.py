"""What is written to a part of a row has torch's gradient, whatever it comes from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from two_frameworks import load

import mindferry

SOURCE = """import torch


def reversed_within(x, lengths):
    out = torch.zeros_like(x)
    for i, n in enumerate(lengths):
        out[i, :n] = x[i, :n].flip(0)
        out[i, n:].copy_(x[i, n:].cumsum(0))
    sums = torch.zeros(2, 4, 3)
    for i in range(2):
        sums[i, :] = torch.cumsum(x[i], 0)
        sums[i, 1:3] += x[i, 1:3].flip([0])
        sums[-1, 0:1] = x[i].sum()
    return out * sums


def gradient(x, lengths):
    x = torch.tensor(x, requires_grad=True)
    made = reversed_within(x, lengths)
    (made * torch.arange(24.0).reshape(2, 4, 3)).sum().backward()
    return x.grad
"""


def test_what_is_written_to_a_part_of_a_row_has_its_gradient(tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((2, 4, 3)).astype(np.float32)
    theirs = load(SOURCE, tmp_path / "theirs.py").gradient(x, [3, 2])
    ours = load(mindferry.convert_source(SOURCE).code, tmp_path / "ours.py").gradient(x, [3, 2])
    np.testing.assert_allclose(ours.asnumpy(), theirs.numpy(), rtol=1e-5, atol=1e-5)
