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


def test_what_only_the_second_version_of_the_transforms_has_is_found_with_its_reason() -> None:
    name = "torchvision.transforms.v2.Transform"
    (finding,) = convert_source("from torchvision.transforms import v2\nclass A(v2.Transform):\n    pass\n").findings
    assert finding.rule == name and table().calls[name].missing in finding.message


def test_no_entry_of_the_table_is_looked_up_under_another_name() -> None:
    """A file's names are read as what `canonical` makes of them: an entry that it moves would never be found."""
    assert [rule.api for rule in table() if canonical(rule.api) != rule.api] == []


def test_every_second_name_leads_to_an_entry_of_the_table() -> None:
    assert [name for name in _exports() if table().get(name) is None] == []
    assert [name for name in _exports() if canonical(name) not in table().calls] == []
    assert canonical("torch.autograd.function.Function.apply") == "torch.autograd.Function.apply"


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("torch.all(x > 0, axis=-1, keepdims=True)", "ms_compat.all_true(x > 0, dim=-1, keepdim=True)"),
        ("torch.max(x, axis=1)", "ms_compat.max_of(x, dim=1)"),
        ("torch.sum(x, axis=1, keepdims=True)", "ops.sum(x, dim=1, keepdim=True)"),
        ("x.mean(axis=0)", "ops.mean(x, axis=0)"),
        ("torch.argmax(x, axis=1)", "ops.argmax(x, dim=1)"),
        ("torch.cat([x, x], axis=1)", "ops.cat([x, x], axis=1)"),
    ],
)
def test_numpys_names_of_arguments_are_torchs_too(call: str, after: str) -> None:
    result = convert_source(f"import torch\nx = torch.ones(3, 4)\ny = {call}\n")
    assert f"y = {after}" in result.main
    assert not result.findings
