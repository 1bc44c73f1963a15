"""Max pooling by the kernel of nn.MaxPool2d: torch's values and gradients for every setting, ties included, compiled or not."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from mindferry.convert.render.helpers_module import render

SETTINGS = [
    (2, None, 0, 1, False),
    (3, 2, 1, 1, False),
    ((3, 2), (2, 1), (1, 0), 1, False),
    (3, 2, 1, 1, True),
    (2, 2, 0, 1, True),
    (3, 1, 1, 2, False),
    ([2, 3], None, 1, (1, 2), True),
]


@pytest.fixture(scope="module")
def helpers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("helpers")
    (folder / "max_pool_helpers.py").write_text(render({"max_pool2d_values"}))
    sys.path.insert(0, str(folder))  # ms.jit imports what it compiles by its name
    yield importlib.import_module("max_pool_helpers")
    sys.path.remove(str(folder))


@pytest.mark.parametrize("is_compiled", [False, True], ids=["pynative", "compiled"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_values_and_gradients_are_torchs(helpers: ModuleType, settings: tuple, is_compiled: bool) -> None:
    import mindspore as ms

    rng = np.random.default_rng(len(str(settings)))
    x = rng.integers(-3, 3, (2, 3, 9, 11)).astype(np.float32)  # many equal values: the first one gets the gradient
    theirs = torch.from_numpy(x).requires_grad_()
    expected = F.max_pool2d(theirs, *settings)
    scale = rng.normal(size=expected.shape).astype(np.float32)
    (expected * torch.from_numpy(scale)).sum().backward()

    def forward(x: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor]:
        values = helpers.max_pool2d_values(x, *settings)
        return (values * ms.Tensor(scale)).sum(), values

    gradient = ms.value_and_grad(forward, has_aux=True)
    (_, values), slope = (ms.jit(gradient) if is_compiled else gradient)(ms.Tensor(x))
    np.testing.assert_array_equal(values.asnumpy(), expected.detach().numpy())
    np.testing.assert_allclose(slope.asnumpy(), theirs.grad.numpy(), atol=1e-6)
