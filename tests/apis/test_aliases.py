"""Whatever name of torch's a file imports a thing by, it is converted as what it is."""

from __future__ import annotations

import pytest

from mindferry import convert_source
from mindferry.apis import table
from mindferry.apis.torch._aliases import _exports, canonical


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from torch.autograd.function import Function\nclass A(Function):\n    pass\n",
            "class A(ms_compat.Function):",
        ),
        ("from torch.nn.modules import Linear\nf = Linear(2, 3)\n", "f = nn.Dense(2, 3"),
        ("import torch.nn.modules.activation as act\nf = act.ReLU()\n", "f = nn.ReLU()"),
        ("from torch.optim.sgd import SGD\ndef f(n):\n    return SGD(n.parameters(), 0.1)\n", "ms_compat.SGD("),
        (
            "from torch.nn.modules import Module\nclass A(Module):\n    def forward(self, x):\n        return x\n",
            "nn.Cell",
        ),
        ("from torch.utils.data.dataloader import default_collate\nf = default_collate\n", "ms_compat.default_collate"),
    ],
)
def test_a_second_name_is_converted_like_the_first(before: str, after: str) -> None:
    result = convert_source(before)
    assert after in result.main and "import torch" not in result.main and "from torch" not in result.main
    assert not [each for each in result.findings if each.severity == "error"]


def test_every_second_name_leads_to_an_entry_of_the_table() -> None:
    assert [name for name in _exports() if table().get(name) is None] == []
    assert canonical("torch.autograd.function.Function.apply") == "torch.autograd.Function.apply"
