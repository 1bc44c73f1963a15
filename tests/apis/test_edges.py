"""Losses and activations at the edge: inputs that are exactly 0, probabilities of 0 and 1, logits far from 0, equal values."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

import mindferry

EDGES = np.array([-1.0, 0.0, 1.0, 0.0, 3.0, -3.0, 0.5, -0.5], np.float32)
EXPRESSIONS = (
    "F.elu(x)",
    "F.elu(x, 0.5)",
    "F.celu(x, 0.7)",
    "F.selu(x)",
    "nn.ELU()(x)",
    "nn.ELU(0.5)(x)",
    "nn.CELU(0.7)(x)",
    "nn.SELU()(x)",
    "nn.RReLU().eval()(x)",
    "F.rrelu(x)",
    "F.leaky_relu(x, 0.2)",
    "nn.LeakyReLU(0.2)(x)",
    "nn.Softplus()(x)",
    "nn.Softplus(beta=2)(x * 40)",
    "F.logsigmoid(x)",
    "F.logsigmoid(x * 40)",
    "nn.LogSigmoid()(x * 40)",
    "F.binary_cross_entropy(x.clamp(0, 1), torch.ones(8))",
    "F.binary_cross_entropy(torch.sigmoid(x * 40), torch.zeros(8))",
    "F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(x.detach() * 2))",
    "F.binary_cross_entropy_with_logits(x, torch.ones(8))",
    "F.binary_cross_entropy_with_logits(x * 40, torch.zeros(8))",
    "nn.BCEWithLogitsLoss()(x, torch.ones(8))",
    "nn.BCEWithLogitsLoss(pos_weight=torch.ones(8) * 2)(x, torch.ones(8))",
    "F.margin_ranking_loss(x, x.detach(), torch.ones(8))",
    "F.hinge_embedding_loss(x, -torch.ones(8))",
    "(x * 0 + 1).std()",
    "(x.view(4, 2) * torch.tensor([0.0, 1.0])).std(dim=0)",
    "(x * 0).norm()",
    "torch.xlogy(x.clamp(min=0), x.detach().clamp(min=0) + 1)",
    "x.view(4, 1, 2) + F.multi_head_attention_forward(*[x.view(4, 1, 2)] * 3, 2, 1, torch.eye(2).repeat(3, 1), None, None, None, False, "
    "0.0, torch.eye(2), None, key_padding_mask=torch.ones(1, 4, dtype=torch.bool), need_weights=False)[0]",
    "x + torch.lerp(x * 1e8, x.detach() + 2, 1.0)",
    "F.hardtanh(x)",
    "nn.Hardtanh(-3, 1)(x)",
    "F.relu6(x * 2)",
    "nn.ReLU6()(x * 2)",
    "F.hardswish(x)",
    "nn.Hardswish()(x)",
    "nn.BCELoss()(x.clamp(0, 1), torch.ones(8))",
    "nn.BCELoss(reduction='sum')(torch.sigmoid(x * 40), torch.zeros(8))",
    "nn.CrossEntropyLoss(ignore_index=1)(x.view(4, 2), torch.ones(4).long())",
    "nn.CrossEntropyLoss(ignore_index=1, label_smoothing=0.1)(x.view(4, 2), torch.ones(4).long())",
    "torch.max(torch.where(x == 0.5, float('nan') * x, x).view(4, 2), 1)[0][:3]",
    "torch.min(torch.where(x == 0.5, float('nan') * x, x), 0)[1] * x",
    "torch.sort(torch.where(x == 0.5, float('nan') * x, x), stable=True)[0][:7]",
    "torch.topk(torch.where(x.detach() == 0.5, float('nan'), x.detach()), 3)[1] * x[:3]",
    "torch.argmax(torch.where(x == 0.5, float('nan') * x, x)) * x",
    "torch.nan_to_num(torch.maximum(torch.where(x == 0.5, float('nan') * x, x), torch.zeros(8)), nan=-9.0)",
    "x.view(4, 2)[torch.tensor([1, 2, 1]) - 2]",
    "x[torch.tensor([-1, 3, -8])] * torch.arange(1, 4)",
    "torch.linalg.vector_norm(x.view(4, 2), -1, dim=1)",
    "torch.as_strided_scatter(x, x[:4].detach().view(2, 2), (2, 2), (1, 3), 1) * torch.arange(8)",
    "F.mish(x * 40)",
    "nn.Mish()(x * 40)",
    "torch.remainder(x * 37, 3.7)",
    "x.fmod(3.7) * torch.fmod(x * 37, torch.tensor([3.7] * 8))",
    "F.cosine_similarity(x.view(4, 2) * 1e25, x.detach().flip(0).view(4, 2) * 1e25 + 1, dim=1) * 1e3",
    "F.cosine_similarity(x.view(4, 1, 2), x.detach().view(1, 4, 2), dim=-1)",
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, ModuleType]:
    folder = tmp_path_factory.mktemp("edges")
    source = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    for number, expression in enumerate(EXPRESSIONS):
        source += f"\n\ndef edge_{number}(x: torch.Tensor):\n    return {expression}\n"
    (folder / "edges_torch.py").write_text(source)
    (folder / "edges_ms.py").write_text(mindferry.convert_source(source).code)
    return load(folder / "edges_torch.py"), load(folder / "edges_ms.py")


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)), ids=EXPRESSIONS)
def test_values_and_gradients_are_torchs_at_the_edge(number: int, both: tuple[ModuleType, ModuleType]) -> None:
    import mindspore as ms

    theirs, ours = (getattr(module, f"edge_{number}") for module in both)
    x = torch.tensor(EDGES, requires_grad=True)
    wanted = theirs(x).sum()
    wanted.backward()
    assert x.grad is not None
    value, gradient = ms.value_and_grad(lambda given: ours(given).sum())(ms.Tensor(EDGES))
    np.testing.assert_allclose(value.asnumpy(), wanted.item(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(gradient.asnumpy(), x.grad.numpy(), rtol=1e-4, atol=1e-5)
