"""Where only the place of the largest or smallest is asked for: argmax and argmin, with torch's answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.convert.two_frameworks import load, plain

from mindferry import convert_source

CODE = """import torch


def pick(x):
    _, a = torch.max(x, 1)
    _, b = torch.max(x, dim=-1, keepdim=True)
    c = torch.max(x, 1)[1]
    d = torch.min(x, 0)[1]
    values, e = torch.max(x, 1)
    return a, b, c, d, values, e


def keep(x):
    _, a = torch.max(x, 1)
    return _ + a
"""


def test_the_places_are_torchs(tmp_path: Path) -> None:
    made = convert_source(CODE)
    (tmp_path / "ms_compat.py").write_text(made.helpers)
    assert "    a = ops.argmax(x, 1)\n" in made.main
    assert "    c = ops.argmax(x, 1)\n" in made.main
    assert "    values, e = ms_compat.max_of(x, 1)\n" in made.main
    ours, theirs = load(made.code, tmp_path / "ours.py"), load(CODE, tmp_path / "theirs.py")
    import mindspore as ms

    for seed in range(3):
        x = np.random.default_rng(seed).integers(0, 5, (4, 6)).astype(np.float32)  # with equal ones among them
        got, want = ours.pick(ms.Tensor(x)), theirs.pick(torch.from_numpy(x))
        assert [plain(each) for each in got] == [plain(each) for each in want]
        assert all(each.dtype == ms.int64 for each in got[:4])


@pytest.mark.parametrize(
    "statement",
    [
        "_, a = torch.max(x, 1)\n    return _ + a",
        "_, a = torch.max(x, y)",
        "(_, a) = torch.max(x, d)",
        "a = torch.max(x, 1)[0]",
    ],
)
def test_values_that_are_read_stay(statement: str) -> None:
    assert "argmax" not in convert_source(f"import torch\n\n\ndef f(x, y, d):\n    {statement}\n").main
