"""Convolutions of one image: a layer or a function that a script calls gets them, a network's own layers get batches."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
import torch
from two_frameworks import load

import mindferry

SOURCE = """import torch
import torch.nn.functional as F
from torch import nn


def call_layer(net: nn.Conv2d, x: torch.Tensor):
    return net(x)


def call_transposed(net: nn.ConvTranspose2d, x: torch.Tensor):
    return (net)(
        x  # an image
    )


def call_function(x: torch.Tensor, weight: torch.Tensor):
    return F.conv2d(x, weight, stride=2, padding=1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.weight = nn.Parameter(torch.ones(2, 4, 1, 1))

    def forward(self, x):
        return F.conv2d(self.conv(x), self.weight)
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, ModuleType]:
    folder = tmp_path_factory.mktemp("images")
    return load(SOURCE, folder / "theirs.py"), load(mindferry.convert_source(SOURCE).code, folder / "ours.py")


@pytest.mark.parametrize("shape", [(3, 7, 6), (2, 3, 7, 6)], ids=["image", "batch"])
@pytest.mark.parametrize("name", ["call_layer", "call_transposed"])
def test_a_layer_takes_an_image_or_a_batch(
    name: str, shape: tuple[int, ...], both: tuple[ModuleType, ModuleType]
) -> None:
    import mindspore as ms
    from mindspore import nn

    theirs, ours = both
    values = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
    kinds = (torch.nn.Conv2d, nn.Conv2d) if name == "call_layer" else (torch.nn.ConvTranspose2d, nn.Conv2dTranspose)
    torch_layer, layer = kinds[0](3, 4, 3), kinds[1](3, 4, 3, has_bias=True, pad_mode="pad")
    mindferry.load_torch_weights(layer, torch_layer.state_dict())
    x = torch.tensor(values, requires_grad=True)
    wanted = getattr(theirs, name)(torch_layer, x)
    wanted.square().sum().backward()
    assert x.grad is not None
    found = getattr(ours, name)(layer, ms.Tensor(values))
    gradient = ms.grad(lambda given: getattr(ours, name)(layer, given).square().sum())(ms.Tensor(values))
    np.testing.assert_allclose(found.asnumpy(), wanted.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(gradient.asnumpy(), x.grad.numpy(), atol=1e-4)


@pytest.mark.parametrize("shape", [(3, 7, 6), (2, 3, 7, 6)], ids=["image", "batch"])
def test_the_function_takes_an_image_or_a_batch(shape: tuple[int, ...], both: tuple[ModuleType, ModuleType]) -> None:
    import mindspore as ms

    draws = np.random.default_rng(7)
    values, weight = (draws.standard_normal(each).astype(np.float32) for each in (shape, (5, 3, 3, 3)))
    wanted = both[0].call_function(torch.tensor(values), torch.tensor(weight))
    found = both[1].call_function(ms.Tensor(values), ms.Tensor(weight))
    np.testing.assert_allclose(found.asnumpy(), wanted.numpy(), atol=1e-5)


def test_a_network_keeps_mindspores_own_convolutions() -> None:
    network = mindferry.convert_source(SOURCE).code.partition("class Net")[2]
    assert "nn.Conv2d(3, 4, 3, has_bias=True, pad_mode='pad')" in network
    assert "ops.conv2d(self.conv(x), self.weight)" in network
