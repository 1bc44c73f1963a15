"""A type says how it is known, and what is computed from it is no better known."""

from __future__ import annotations

import ast
import pickle

import pytest

from mindferry.apis import framework, table
from mindferry.read.infer import Reading, read
from mindferry.read.source import Source
from mindferry.read.symbols import Symbols
from mindferry.read.types import FLOAT, INT, TENSOR, UNKNOWN, Provenance, assumed, join, list_of, observed

PROVEN, ASSUMED, OBSERVED = Provenance.PROVEN, Provenance.ASSUMED, Provenance.OBSERVED
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


def reading(code: str) -> Reading:
    source, symbols = Source((HEAD + code).encode()), Symbols(framework())
    read(source, symbols, is_api=table().is_api)
    return read(source, symbols, is_api=table().is_api)


def of_last(code: str) -> tuple[str, Provenance]:
    """(kind, provenance) of the last expression statement, or of what the last statement returns."""
    found = reading(code)
    nodes = [node for node in found.source.nodes if isinstance(node, ast.Expr | ast.Return) and node.value is not None]
    value = max(nodes, key=lambda node: node.lineno).value
    assert value is not None
    return found.type(value).kind, found.provenance(value)


@pytest.mark.parametrize(
    ("code", "kind", "provenance"),
    [
        ("x = torch.zeros(3)\nx + 1\n", "tensor", PROVEN),
        ("def f(x: torch.Tensor):\n    return x.relu()\n", "tensor", PROVEN),
        ("def f(x):\n    return F.relu(x) + x.unknown()\n", "tensor", PROVEN),
        ("x = nn.Linear(2, 3)(1)\nx.shape\n", "size", PROVEN),
        ("x = torch.zeros(3)\nx.tolist()\n", "list", PROVEN),
        ("class N(nn.Module):\n    def forward(self, x):\n        return x + 1\n", "tensor", ASSUMED),
        ("class N(nn.Module):\n    def forward(self, x):\n        return x.size(0)\n", "int", ASSUMED),
        ("class N(nn.Module):\n    def forward(self, x):\n        return x[0].T\n", "tensor", ASSUMED),
        ("class N(nn.Module):\n    def forward(self, x):\n        return F.relu(x)\n", "tensor", PROVEN),
        ("class N(nn.Module):\n    def forward(self, x):\n        return x + torch.ones(3)\n", "tensor", PROVEN),
        ("class N(nn.Module):\n    def forward(self, x):\n        return x > 3\n", "tensor", ASSUMED),
        ("class N(nn.Module):\n    def forward(self, *xs):\n        return xs[0]\n", "tensor", ASSUMED),
        ("def f(x):\n    y = g(x)\n    y.unsqueeze(0)\n    return y\n", "tensor", ASSUMED),
        ("def f(model):\n    model.eval()\n    return model\n", "instance", ASSUMED),
        ("def f(thing):\n    return thing.named_parameters()\n", "list", ASSUMED),
        ("def f(p):\n    return p.grad\n", "tensor", ASSUMED),
        ("def f(n=3):\n    return n\n", "int", ASSUMED),
        ("for x, y in torch.utils.data.DataLoader([]):\n    y\n", "tensor", ASSUMED),
        ("def f(x):\n    return x\n", "unknown", Provenance.UNKNOWN),
        ("def f(x, flag):\n    y = torch.ones(3) if flag else x.unsqueeze(0)\n    return y\n", "tensor", ASSUMED),
        ("def f(x):\n    if isinstance(x, torch.Tensor):\n        x.shape\n", "size", PROVEN),
    ],
)
def test_provenance_follows_the_value(code: str, kind: str, provenance: Provenance) -> None:
    assert of_last(code) == (kind, provenance)


def test_an_assumed_type_equals_the_proven_one() -> None:
    assert assumed(TENSOR) == TENSOR and hash(assumed(TENSOR)) == hash(TENSOR) and assumed(TENSOR).is_tensor
    assert assumed(UNKNOWN).provenance is Provenance.UNKNOWN
    assert observed(TENSOR) == TENSOR and observed(TENSOR).provenance is OBSERVED


def test_a_join_is_as_sure_as_its_weakest_part() -> None:
    assert join(TENSOR, assumed(TENSOR)).provenance is ASSUMED
    assert join(assumed(INT), FLOAT).provenance is ASSUMED and join(INT, FLOAT).provenance is PROVEN
    assert list_of(assumed(TENSOR)).element().provenance is ASSUMED
    assert assumed(list_of(TENSOR)).element().provenance is ASSUMED


def test_provenance_goes_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(assumed(TENSOR))).provenance is ASSUMED
