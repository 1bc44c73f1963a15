"""What a mask selects may be nothing, of which MindSpore's sum is garbage: it is followed through functions, arguments and attributes."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


def last(body: str) -> str:
    return convert_source(HEAD + body).code.splitlines()[-1].strip()


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("def f(a, b, m):\n    return F.mse_loss(a[m], b[m])\n", "return mse_loss(a[m], b[m])"),
        ("def f(a, b, m):\n    return F.l1_loss(a[:, m], b)\n", "return l1_loss(a[:, m], b)"),
        ("def f(a, b):\n    return torch.sum((a[b > 0] - 1) ** 2)\n", "sum_over((a[b > 0] - 1) ** 2)"),
        ("def f(a, m):\n    return (a[m] - 1).abs().mean()\n", "any_mean((a[m] - 1).abs())"),
        ("def f(a: torch.Tensor, m: torch.Tensor):\n    return a[m].sum(dim=0)\n", "sum_over(a[m], dim=0)"),
        (
            "def pick(a, m):\n    return a[m]\n\ndef f(a: torch.Tensor, m: torch.Tensor):\n    return pick(a, m).sum()\n",
            "sum_over(pick(a, m))",
        ),
        ("def f(a: torch.Tensor):\n    return g(a[a > 3])\n\ndef g(a):\n    return torch.sum(a)\n", "sum_over(a)"),
        (
            "def f(a: torch.Tensor):\n    return g(x=a[a > 3])\n\ndef g(*, x):\n    y = x * 2\n    return torch.sum(y)\n",
            "sum_over(y)",
        ),
        (
            "class Net(nn.Module):\n    def forward(self, a):\n        return a[a > 3]\n\nnet = Net()\nprint(net(torch.ones(3)).sum())\n",
            "print(sum_over(net(ops.ones((3,)))))",
        ),
        (
            "class Net(nn.Module):\n    def forward(self, a):\n        self.kept = a[a > 3]\n        return torch.sum(self.kept)\n",
            "return sum_over(self.kept)",
        ),
    ],
)
def test_what_is_selected_is_summed_by_a_helper_that_minds_it(body: str, written: str) -> None:
    assert last(body).endswith(written)


@pytest.mark.parametrize(
    "loss", ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss", "CrossEntropyLoss"]
)
def test_a_loss_that_is_given_selections_minds_them(loss: str) -> None:
    code = convert_source(HEAD + f"loss = nn.{loss}()\n\ndef f(a, b, m):\n    return loss(a[m], b[m])\n").code
    assert f"\nloss = {loss}()" in code


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("def f(a: torch.Tensor, n: int):\n    return a[n].sum()\n", "ops.sum(a[n])"),
        ("def f(a: torch.Tensor):\n    return a[:, 0].mean()\n", "ops.mean(a[:, 0])"),
        (
            "def f(a: torch.Tensor, i: torch.Tensor, j: torch.Tensor):\n    return a[i, j].sum()\n",
            "ops.sum(take_place(a, i, j))",
        ),
        ("loss = nn.MSELoss()\n\ndef f(a, b):\n    return loss(a, b)\n\nlast = nn.MSELoss()\n", "nn.MSELoss()"),
        ("def f(batch, key):\n    return F.mse_loss(batch['a'], batch['b'])\n", "ops.mse_loss(batch['a'], batch['b'])"),
    ],
)
def test_what_is_not_selected_is_mindspores_own(body: str, written: str) -> None:
    assert last(body).endswith(written)
