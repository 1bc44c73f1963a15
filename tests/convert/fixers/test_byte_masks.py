"""An index of whole numbers of eight bits chooses by truth, as it does in torch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

SCRIPT = """import torch


def chosen(y, m):
    return y[m.byte()]


def run():
    x = torch.arange(6.0).view(2, 3)
    mask = (x > 2).byte()
    keep = torch.zeros(2, dtype=torch.uint8)
    keep[1] = 1
    codes = torch.tensor([3, 1], dtype=torch.long)
    return [x[mask], x[keep], x[keep, 1:], x[(x < 2).byte()], chosen(x, x > 1), x.byte(), codes.byte()]
"""


def test_bytes_choose_by_truth(both: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = both(SCRIPT)
    for expected, actual in zip(theirs, ours, strict=True):
        assert expected.numpy().dtype == actual.asnumpy().dtype and np.array_equal(expected.numpy(), actual.asnumpy())
