"""`inplace=True` goes where it only saves memory, and stays in effect where the input is read again."""

from __future__ import annotations

import pytest

from mindferry import convert_source

NETWORK = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = nn.Linear(4, 4)
        self.act = nn.ReLU(inplace=True)
        self.block = nn.Sequential(nn.LeakyReLU(0.1, True), nn.Linear(4, 4), nn.ReLU(True))

    def forward(self, x):
        h = self.pre(x)
{0}
"""


@pytest.mark.parametrize(
    "body",
    [
        "y = self.act(h)\nreturn h + y",
        "return h + self.block(h)",
        "return torch.cat([h, self.block(h)], 1)",
        "kept = h\nh = self.act(h)\nreturn kept * h",
        "kept = [x]\nkept.append(h)\nh = self.block(h)\nreturn h + kept[1]",
    ],
)
def test_a_layer_whose_input_is_read_again_works_in_place(body: str) -> None:
    code = convert_source(NETWORK.format("\n".join(f"        {line}" for line in body.splitlines()))).code
    network = code[code.index("class Net") :]
    assert network.count("in_place(") == 1, "the block's last layer gets what only it reads"


@pytest.mark.parametrize(
    "body",
    [
        "h = self.act(h)\nreturn self.block(h)",
        "kept = h\nh = self.pre(h)\nh = self.act(h)\nreturn kept + h",
        "return self.block(self.act(h))",
    ],
)
def test_a_layer_whose_input_nobody_reads_again_is_plain(body: str) -> None:
    code = convert_source(NETWORK.format("\n".join(f"        {line}" for line in body.splitlines()))).code
    assert "in_place" not in code


@pytest.mark.parametrize("value, expected", [("True", True), ("False", False)])
def test_whether_a_layer_works_in_place_may_be_a_variable(value: str, expected: bool) -> None:
    given = {
        "nn.ReLU(inplace=True)": "nn.ReLU(inplace)",
        "super().__init__()\n": f"super().__init__()\n        inplace = {value}\n",
    }
    text = NETWORK.format("        y = self.act(h)\n        return h - y")
    for old, new in given.items():
        text = text.replace(old, new)
    names: dict[str, object] = {}
    exec(convert_source(text).code, names)
    network = names["Net"]()  # type: ignore[operator]
    import mindspore as ms

    found = network(ms.ops.randn(3, 4))
    assert bool((found == 0).all()) == expected, "an input that became its own relu leaves nothing"
