"""Gradients where a function bends: rows of zeros, zero-initialised heads and equal scores are common, and torch's choice there counts."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from mindferry.convert import convert_project

EXPRESSIONS = {
    "elu": "F.elu(x)",
    "selu": "F.selu(x)",
    "celu": "F.celu(x, 2.0)",
    "rrelu": "F.rrelu(x, 0.1, 0.3, False)",
    "leaky_relu": "F.leaky_relu(x, 0.2)",
    "softplus": "F.softplus(x)",
    "logits": "F.binary_cross_entropy_with_logits(x, torch.full_like(x, 0.25), reduction='none')",
    "hinge": "F.hinge_embedding_loss(1 + x, -torch.ones_like(x), reduction='none')",
    "ranking": "F.margin_ranking_loss(x, torch.zeros_like(x), torch.ones_like(x), reduction='none')",
    "elu_layer": "nn.ELU(0.7)(x)",
    "selu_layer": "nn.SELU()(x)",
    "celu_layer": "nn.CELU(0.7)(x)",
    "softplus_layer": "nn.Softplus(2.0)(x)",
    "softmax": "F.softmax(x.reshape(1, 1, 1, 1, 1, -1), -1)[..., :1]",
    "softmax_method": "x.reshape(1, 1, 1, 1, 1, 1, -1).softmax(dim=6)[..., :1]",
    "softmax_layer": "nn.Softmax(-2)(x.reshape(1, 1, 1, 1, -1, 1))[..., :1, :]",
    "log1p": "torch.log1p(x * 0.3)",
    "expm1": "torch.expm1(x)",
    "logsigmoid": "F.logsigmoid(x)",
    "bernoulli": "torch.distributions.Bernoulli(logits=x).log_prob(torch.ones_like(x))",
}
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
SMALL = (1e-6, -1e-6, 1e-4, -3e-3, 0.1)
POINTS = (0.0, -1.0, 0.5, 2.0, -3.0)


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Any]:
    """torch's functions by name, and the converted module."""
    folder = tmp_path_factory.mktemp("bends")
    text = HEAD + "".join(f"def f_{name}(x):\n    return {each}\n" for name, each in EXPRESSIONS.items())
    (folder / "torch").mkdir()
    (folder / "torch" / "bends.py").write_text(text)
    convert_project(folder / "torch", folder / "mindspore")
    theirs: dict[str, Any] = {}
    exec(text, theirs)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder / "mindspore"))
        spec = importlib.util.spec_from_file_location("bends", folder / "mindspore" / "bends.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return theirs, module


@pytest.mark.parametrize("name", [each for each in EXPRESSIONS if "softmax" not in each])
def test_the_gradient_is_torchs_at_zero_too(name: str, functions: tuple[dict[str, Any], Any]) -> None:
    import mindspore as ms
    import numpy as np
    import torch

    theirs, ours = functions
    x = torch.tensor(POINTS, requires_grad=True)
    theirs[f"f_{name}"](x).sum().backward()
    found = ms.grad(lambda v: getattr(ours, f"f_{name}")(v).sum())(ms.Tensor(np.array(POINTS, np.float32)))
    assert x.grad is not None
    np.testing.assert_allclose(found.asnumpy(), x.grad.numpy(), atol=1e-4)


@pytest.mark.parametrize("name", ["softmax", "softmax_method", "softmax_layer"])
def test_a_softmax_over_one_entry_changes_no_later_gradient(name: str, functions: tuple[dict[str, Any], Any]) -> None:
    """MindSpore keeps something of it: the gradients over longer axes are wrong afterwards."""
    import mindspore as ms
    import numpy as np
    import torch

    theirs, ours = functions
    for points in (POINTS[2:3], POINTS):
        x = torch.tensor(points, requires_grad=True)
        theirs[f"f_{name}"](x).sum().backward()
        found = ms.grad(lambda v: getattr(ours, f"f_{name}")(v).sum())(ms.Tensor(np.array(points, np.float32)))
        assert x.grad is not None
        np.testing.assert_allclose(found.asnumpy(), x.grad.numpy(), atol=1e-5)


@pytest.mark.parametrize(("name", "points"), [("log1p", SMALL), ("expm1", SMALL), ("logsigmoid", (9.0, 12.0, 15.0))])
def test_a_value_near_zero_is_right_in_its_own_digits(
    name: str, points: tuple[float, ...], functions: tuple[dict[str, Any], Any]
) -> None:
    import mindspore as ms
    import numpy as np
    import torch

    theirs, ours = functions
    right = theirs[f"f_{name}"](torch.tensor(points, dtype=torch.float64)).numpy()
    found = getattr(ours, f"f_{name}")(ms.Tensor(np.array(points, np.float32))).asnumpy()
    assert np.abs(found / right - 1).max() < 1e-5
