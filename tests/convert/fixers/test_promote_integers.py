"""Functions that torch computes with floats where it is given integers."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from mindferry import convert_source

SOURCE = """import torch

def run(n):
    pos = torch.arange(n).unsqueeze(1)
    k = torch.tensor([1, 2, 3])
    m = pos * 2 + 1
    counts = torch.stack([k, k + 1])
    return [torch.log(torch.arange(1, n)), torch.sin(m), (pos + 1).log(), torch.exp(-pos), torch.sigmoid(k[:2]), k.argmax().cos(),
            torch.tanh((k > 1).sum()), torch.erf(counts), torch.zeros(2, dtype=torch.long).exp(), torch.log1p(k.float().long()),
            torch.nn.Parameter(torch.log(k)).detach(), torch.exp(pos * 0.5), torch.log(torch.arange(1.0, 3.0)), torch.rsqrt(torch.tensor(4)), torch.atan(torch.randint(1, 2, (3,)))]
"""


def test_integers_are_computed_with_as_floats(tmp_path: Path) -> None:
    from two_frameworks import load

    ours, theirs = load(convert_source(SOURCE).code, tmp_path / "ours.py"), load(SOURCE, tmp_path / "theirs.py")
    for a, b in zip(ours.run(4), theirs.run(4), strict=True):
        assert str(a.asnumpy().dtype) == str(b.numpy().dtype)
        np.testing.assert_allclose(a.asnumpy(), b.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    "given",
    ["x", "x * 2", "torch.arange(n) / 2", "torch.arange(0, 1, 0.1)", "torch.arange(n, dtype=torch.float64)", "x[:, 0]"],
)
def test_what_may_be_floats_stays_as_it_is(given: str) -> None:
    text = convert_source(f"import torch\n\ndef f(x: torch.Tensor, n):\n    return torch.exp({given})\n").main
    assert "astype" not in text and ast.parse(text)
