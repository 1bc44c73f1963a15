"""What once stopped models of the zoos from computing the same, in a few lines each."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry import convert_source

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def both(folder: Path, name: str, code: str) -> tuple[Any, Any]:
    """The source and its conversion as modules."""
    modules = []
    for side, text in (("torch", HEADER + code), ("mindspore", convert_source(HEADER + code).code)):
        path = folder / f"{name}_{side}.py"
        path.write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module  # ms.jit looks the module up
        spec.loader.exec_module(module)
        modules.append(module)
    return modules[0], modules[1]


def test_gradients_flow_through_the_copy_of_a_parameter(tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    code = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bias = nn.Parameter(torch.arange(6.0))\n\n"
        "    def forward(self, x):\n        bias = self.bias.clone()\n        bias[2:4].zero_()\n        return x + bias\n"
    )
    theirs, ours = both(tmp_path, "copied_parameter", code)
    x = np.random.default_rng(0).standard_normal((3, 6)).astype(np.float32)
    net, cell = theirs.Net(), ours.Net()
    (net(torch.tensor(x)) ** 2).sum().backward()
    for call in (cell, ms.jit(cell.construct)):
        (found,) = ms.grad(lambda x, call=call: (call(x) ** 2).sum(), None, ms.ParameterTuple([cell.bias]))(
            ms.Tensor(x)
        )
        np.testing.assert_allclose(found.asnumpy(), net.bias.grad.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(cell.bias.asnumpy(), np.arange(6))


@pytest.mark.parametrize("limit", [0.0, 99.0], ids=["found", "nothing found"])
def test_a_search_may_find_nothing(limit: float, tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    code = (
        "def case(x: torch.Tensor, limit: float):\n    found = torch.where(x[:, 0] > limit)[0]\n    y = torch.zeros_like(x)\n"
        "    y[found] = x[found] * 2\n    half = torch.div(found, 2, rounding_mode='floor')\n    z = torch.zeros_like(x)\n"
        "    z[half] = x[half] ** 2\n    return (y * y + z).sum()\n"
    )
    theirs, ours = both(tmp_path, f"search_{int(limit)}", code)
    x = np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)
    given = torch.tensor(x, requires_grad=True)
    expected = theirs.case(given, limit)
    wanted = torch.autograd.grad(expected, given)[0] if expected.requires_grad else torch.zeros_like(given)
    assert float(ours.case(ms.Tensor(x), limit)) == pytest.approx(expected.item(), rel=1e-5)
    np.testing.assert_allclose(
        ms.grad(lambda x: ours.case(x, limit))(ms.Tensor(x)).asnumpy(), wanted.numpy(), rtol=1e-5, atol=1e-6
    )


def test_places_that_are_given_are_indexed_as_they_are() -> None:
    code = "def f(table: torch.Tensor, places: torch.Tensor):\n    return table[places]\n"
    assert "    return table[places]\n" in convert_source(HEADER + code).main


def test_an_average_pool_with_a_stride_compiles(tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    code = "def case(x: torch.Tensor):\n    return F.avg_pool2d(x, kernel_size=3, stride=1, padding=1) + F.avg_pool2d(x, 1)\n"
    theirs, ours = both(tmp_path, "average_pool", code)
    x = np.random.default_rng(2).standard_normal((1, 2, 5, 5)).astype(np.float32)
    found = ms.jit(ours.case)(ms.Tensor(x)).asnumpy()
    np.testing.assert_allclose(found, theirs.case(torch.tensor(x)).numpy(), rtol=1e-5, atol=1e-6)


def test_empty_boxes_do_not_suppress_each_other(tmp_path: Path) -> None:
    import mindspore as ms

    code = "from torchvision.ops import nms\n\n\ndef case(boxes: torch.Tensor, scores: torch.Tensor):\n    return nms(boxes, scores, 0.5)\n"
    module = convert_source(HEADER + code)
    path = tmp_path / "empty_boxes.py"
    path.write_text(module.code, "utf-8")
    spec = importlib.util.spec_from_file_location("empty_boxes", path)
    assert spec is not None and spec.loader is not None
    ours = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ours)
    boxes = ms.Tensor([[1.0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 4, 4], [0, 0, 4, 4.5]])
    assert ours.case(boxes, ms.Tensor([0.9, 0.8, 0.7, 0.6])).asnumpy().tolist() == [0, 1, 2]


def test_a_padding_layer_that_crops_does_so_each_time(tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    theirs, ours = both(tmp_path, "cropping", "def make():\n    return nn.ZeroPad2d((-1, 1, -1, 1))\n")
    x = np.random.default_rng(3).standard_normal((1, 2, 5, 5)).astype(np.float32)
    expected, layer = theirs.make()(torch.tensor(x)).numpy(), ours.make()
    for _ in range(3):
        np.testing.assert_array_equal(layer(ms.Tensor(x)).asnumpy(), expected)
