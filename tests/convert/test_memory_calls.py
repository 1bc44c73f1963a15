"""flatten_parameters() arranges memory for torch's kernels: it goes wherever it is called from."""

from __future__ import annotations

import pytest

from mindferry import convert_source

SOURCE = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.GRU(3, 4), nn.LSTM(4, 2)
        self.rnns = [self.first, self.second]

    def forward(self, x):
        {call}
        return self.second(self.first(x)[0])[0]
"""


@pytest.mark.parametrize(
    ("call", "left"),
    [
        ("[m.flatten_parameters() for m in self.rnns]", ""),
        ("[m.flatten_parameters() for m in self.rnns if isinstance(m, nn.GRU)]", ""),
        ("[rnn.flatten_parameters() for rnn in list(self.rnns)]", "[None for rnn in list(self.rnns)]"),
        ("self.training and self.first.flatten_parameters()", "self.training and None"),
        ("self.apply(lambda m: m.flatten_parameters() if hasattr(m, 'x') else None)", "None if hasattr(m, 'x')"),
    ],
)
def test_the_call_goes(call: str, left: str) -> None:
    conversion = convert_source(SOURCE.format(call=call))
    assert conversion.findings == ()
    assert "flatten_parameters" not in conversion.code
    assert left in conversion.code
    assert left or "for m in" not in conversion.code
