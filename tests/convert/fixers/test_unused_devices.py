"""`device = x.device` goes where nothing reads it any more, and stays where something does."""

from __future__ import annotations

import pytest

from mindferry.convert import convert_source

HEAD = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"


def converted(*lines: str) -> str:
    return convert_source(HEAD + "".join(f"        {line}\n" for line in lines)).main


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("b, n, device = *x.shape, x.device", "        b, n = x.shape\n"),
        ("n, device = x.shape[0], x.device", "        n = x.shape[0]\n"),
        ("b, n, device = x.shape[0], x.shape[1], x.device", "        b, n = x.shape[0], x.shape[1]\n"),
    ],
)
def test_a_device_at_the_end_of_a_tuple_goes(line, after):
    code = converted(line, "return x + torch.zeros(n, device=device)")
    assert after in code and "device" not in code


@pytest.mark.parametrize(
    "use", ["torch.arange(4, device=device)", "torch.linspace(0, 1, 4, device=device)", "torch.ones(4).to(device)"]
)
def test_a_device_that_only_placed_tensors_goes(use):
    assert "device" not in converted("device = x.device", f"return x + {use}")


def test_a_device_that_is_read_stays():
    assert "device = x.device" in converted("device = x.device", "print(device)", "return x")
    assert "n, device = x.shape[0], x.device" in converted(
        "n, device = x.shape[0], x.device", "log(device=device)", "return x"
    )


def test_another_thing_s_device_stays():
    code = convert_source(
        "import torch\n\n\ndef f(config):\n    device = config.device\n    return torch.zeros(3, device=device)\n"
    ).main
    assert "device = config.device" in code
