"""Values that once came out otherwise without a word: each function gives in MindSpore what it gives in torch, or a finding says so."""

from __future__ import annotations

import numpy as np
import pytest
from two_frameworks import Both, plain

from mindferry.convert import convert_source


def same(both: Both, body: str) -> None:
    theirs, ours = both(body)
    np.testing.assert_allclose(flat(ours), flat(theirs), rtol=1e-5)


def flat(values: object) -> np.ndarray:
    return np.concatenate([np.ravel(each) for each in plain(values)])


def test_the_gradient_of_a_slice_that_is_empty_in_one_round(both: Both) -> None:
    same(
        both,
        """
def run():
    x = torch.from_numpy(X).requires_grad_()
    out = []
    for i in range(6):
        head, tail = x[:, :i], x[:, i + 1:]
        y = torch.cat([head, torch.zeros(4, 1), tail], dim=1)
        out.append((y * y).sum() + x[..., :0].sum() + (x[:, :i] ** 2).sum())
    torch.stack(out).sum().backward()
    return [x.grad]
""",
    )


def test_second_derivatives_follow_indices_and_shapes(both: Both) -> None:
    same(
        both,
        """
def indexed(x):
    return x[0] ** 2 * x[1] + x[1] ** 3

def shaped(x):
    return (x.reshape(1, 2) @ x.reshape(2, 1)).pow(2).sum()

def of_two(x, y):
    return (x * y).sum() ** 2

def run():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])
    mixed = torch.autograd.functional.hessian(of_two, (x, y))
    return [
        torch.autograd.functional.hessian(indexed, x), torch.func.hessian(shaped)(x), mixed[0][1], mixed[1][1],
        torch.autograd.functional.hessian(lambda v: (v ** 3).sum(), x),
    ]
""",
    )


def test_what_contiguous_copies_is_written_to_alone(both: Both) -> None:
    same(
        both,
        """
def run():
    x = torch.from_numpy(X[:, :1].copy())
    y = x.expand(-1, 3).contiguous()
    y[0, 0] = 9
    z = torch.from_numpy(X.copy())
    t = z.t().contiguous()
    t[0] = 1
    return [x, y, z, t]
""",
    )


def test_a_single_number_of_float64_leaves_the_type_of_an_array(both: Both) -> None:
    same(
        both,
        """
def run():
    x, log = torch.from_numpy(X), torch.tensor(np.log(2.0))
    given, one = torch.from_numpy(np.array(1.5)), torch.tensor(2.5, dtype=torch.float64)
    results = [x + log, x - given, one + x, log + one, torch.tensor([1, 2]) + one, x - torch.tensor(np.sqrt(2.0))]
    return [*results, [str(each.dtype).lower().rpartition(".")[2].endswith("float64") for each in results]]
""",
    )


def test_arrays_are_added_wherever_they_come_from(both: Both) -> None:
    same(
        both,
        """
def run():
    x, steps = torch.from_numpy(X), np.arange(6)
    steps = steps - 1
    total = x * 2
    total += steps
    a, b = 1.0, 2.0
    for _ in range(2):
        a = b + a
        b = a - b
        total += a
    return [total, *of_arguments(x, X[0]), Weighted().of(x)]

def of_arguments(x: torch.Tensor, array: np.ndarray):
    return x + array, x * array

class Weighted:
    def __init__(self):
        self.weights, self.scale = np.ones(6, dtype="float32"), np.log(3.0)

    def of(self, x: torch.Tensor):
        return x * self.weights + self.scale
""",
    )


def test_a_block_on_a_device_computes_what_is_in_it(both: Both) -> None:
    same(
        both,
        """
def run():
    place = torch.device("cpu")
    with place, torch.no_grad():
        x = torch.ones(3)
    with torch.device("cpu") as device:
        y = x * 2
    return [x, y]
""",
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    parts = x.split(2)\n    parts[0].fill_(1)\n    return x\n", "x is changed through a part of it"),
        ("    return x.fill_diagonal_(7), x.sum()\n", "x is changed inside an expression"),
        ("    parts = x.chunk(2)\n    parts[1][0] = 5\n    return x\n", "parts[1] is a copy"),
        ("    a = x.numpy()\n    x.add_(2)\n    return a\n", "a changes with x here"),
        ("    loss = nn.Linear(2, 2)(x).sum()\n    return loss.requires_grad\n", "loss.requires_grad"),
        ("    w = torch.ones(3, requires_grad=True)\n    y = w * 2\n    return y.requires_grad\n", "y.requires_grad"),
    ],
)
def test_what_has_no_counterpart_is_said(body: str, said: str) -> None:
    head = "import torch\nfrom torch import nn\n\n\ndef run():\n    x = torch.zeros(4, 2)\n"
    assert said in " ".join(each.message for each in convert_source(head + body).findings)


@pytest.mark.parametrize(
    "body",
    [
        "    with torch.no_grad():\n        y = nn.Linear(2, 2)(x)\n    return y.requires_grad\n",
        "    return [p.requires_grad for p in nn.Linear(2, 2).parameters()]\n",
        "    y = nn.Linear(2, 2)(x).detach()\n    return y.requires_grad\n",
        "    a = x.numpy().copy()\n    x.add_(2)\n    return a, x\n",
        "    parts = list(torch.zeros(2))\n    parts[0] = 1\n    return parts\n",
    ],
)
def test_what_is_the_same_is_not_said(body: str) -> None:
    head = "import torch\nfrom torch import nn\n\n\ndef run():\n    x = torch.zeros(4, 2)\n"
    found = convert_source(head + body).findings
    assert not [each for each in found if each.severity != "note"], found
