"""Inputs given by torch's names: MindSpore's layers take them by position."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEADER = "import torch\nfrom torch import nn\n\n\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nn.Linear(3, 4)(input=x)", "nn.Dense(3, 4)(x)"),
        ("nn.ReLU()(input = (x))", "nn.ReLU()((x))"),
        ("nn.MSELoss()(input=x, target=y)", "nn.MSELoss()(x, y)"),
        ("nn.LSTM(3, 4)(input=x, hx=y)", "ms_compat.LSTM(3, 4)(x, hx=y)"),
        ("nn.Linear(3, 4)(input=nn.Linear(3, 3)(input=x))", "nn.Dense(3, 4)(nn.Dense(3, 3)(x))"),
    ],
)
def test_a_layers_inputs_go_by_position(before: str, after: str) -> None:
    conversion = convert_source(f"{HEADER}def run(x, y):\n    return {before}\n")
    assert conversion.main.rpartition("return ")[2].strip() == after


def test_a_network_of_the_project_keeps_the_names_of_its_own_inputs() -> None:
    source = f"{HEADER}class Net(nn.Module):\n    def forward(self, input):\n        return input\n\n\ndef run(x):\n    return Net()(input=x)\n"
    assert "Net()(input=x)" in convert_source(source).main
