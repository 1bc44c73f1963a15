"""What is written through a view in another shape is written into the tensor that it shows: values and gradients."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
import torch
from two_frameworks import load

import mindferry

SOURCE = """import torch


def named(x: torch.Tensor, index: torch.Tensor):
    out = torch.zeros(2, 2, 3)
    flat = out.view(-1, 3)
    flat[index] = x
    return out


def unnamed(x: torch.Tensor, index: torch.Tensor):
    out = torch.ones(2, 2, 3)
    out_view = 2.0
    out.view(-1, 3)[index] = x * out_view
    return out * 3


def added(x: torch.Tensor, index: torch.Tensor):
    out = torch.ones(4, 3)
    flat = out.reshape(12)
    for step in range(3):
        flat[index + step] += x[0, step]
    return out


def turned(x: torch.Tensor, index: torch.Tensor):
    out = torch.zeros(2, 3)
    out.t()[1] = x[:, 0]
    other = out.transpose(0, 1)
    other[2] = x[:, 1]
    return out


def rebound(x: torch.Tensor, index: torch.Tensor):
    out = x * 2
    flat = out.view(-1)
    out = x * 3
    flat[0] = 7.0
    return out + flat[0]


def unread(x: torch.Tensor, index: torch.Tensor):
    out = x.clone()
    flat = out.view(-1)
    flat[1] = 5.0
    return flat
"""
INDEX = np.array([0, 2])


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[ModuleType, ModuleType]:
    folder = tmp_path_factory.mktemp("views")
    return load(SOURCE, folder / "theirs.py"), load(mindferry.convert_source(SOURCE).code, folder / "ours.py")


@pytest.mark.parametrize("name", ["named", "unnamed", "added", "turned", "rebound", "unread"])
def test_a_view_writes_into_what_it_shows(name: str, both: tuple[ModuleType, ModuleType]) -> None:
    import mindspore as ms

    theirs, ours = (getattr(module, name) for module in both)
    values = np.random.default_rng(5).standard_normal((2, 3)).astype(np.float32)
    x = torch.tensor(values, requires_grad=True)
    wanted = theirs(x, torch.tensor(INDEX))
    wanted.square().sum().backward()
    assert x.grad is not None
    found = ours(ms.Tensor(values), ms.Tensor(INDEX))
    gradient = ms.grad(lambda given: ours(given, ms.Tensor(INDEX)).square().sum())(ms.Tensor(values))
    np.testing.assert_allclose(found.asnumpy(), wanted.detach().numpy(), atol=1e-6)
    np.testing.assert_allclose(gradient.asnumpy(), x.grad.numpy(), atol=1e-5)


def test_a_view_that_nothing_else_is_read_from_stays_as_it_is() -> None:
    code = mindferry.convert_source(SOURCE).code
    assert ".reshape(out.shape)" not in code.partition("def rebound")[2]


def test_writing_through_a_view_of_an_attribute_is_a_finding() -> None:
    source = (
        "import torch\n\n\nclass Store:\n    def __init__(self):\n        self.rows = torch.zeros(2, 2)\n\n"
        "    def put(self, index: torch.Tensor):\n        self.rows.view(-1)[index] = 1.0\n"
    )
    assert [each.code for each in mindferry.convert_source(source).findings] == ["MF140"]
