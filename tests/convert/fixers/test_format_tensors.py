"""Tensors that are printed with a format."""

from __future__ import annotations

import pytest

from mindferry import convert_source


@pytest.mark.parametrize(
    "before, after",
    [
        ('f"{x:.4f}"', 'f"{x.item():.4f}"'),
        ('f"{x.mean():.4f} {n:.2f} {x}"', 'f"{ops.mean(x).item():.4f} {n:.2f} {x}"'),
        ('f"{x / n:.4f}"', 'f"{(x / n).item():.4f}"'),
        ('f"{x.item():.4f}"', 'f"{x.item():.4f}"'),
        ('"{:.4f} {}".format(x, x)', '"{:.4f} {}".format(x.item(), x)'),
        ('"{1:.4f} {a:e}".format(n, x, a=x)', '"{1:.4f} {a:e}".format(n, x.item(), a=x.item())'),
        ('"%.3f" % x', '"%.3f" % x'),
    ],
)
def test_a_format_is_given_the_number(before: str, after: str) -> None:
    assert (
        f"    print({after})\n"
        in convert_source(f"import torch\n\ndef f(x: torch.Tensor, n: float):\n    print({before})\n").main
    )


def test_a_dictionary_that_is_filled_with_tensors_holds_tensors() -> None:
    code = "import torch\n\ndef f(x: torch.Tensor):\n    out = {}\n    for key in 'ab':\n        out[key] = x.mean()\n    return out\n\n"
    assert (
        "{f(x)['a'].item():.4f}"
        in convert_source(code + "def g(x: torch.Tensor):\n    print(f\"{f(x)['a']:.4f}\")\n").main
    )


def test_a_number_that_becomes_a_tensor_later_is_formatted_either_way() -> None:
    text = convert_source(
        "import torch\n\ndef best(xs):\n    top = 0.0\n    for x in xs:\n        top = torch.sum(x)\n    print(f'{top:.3f}')\n"
    ).main
    assert "{ms_compat.plain_number(top):.3f}" in text


@pytest.mark.parametrize(
    "value",
    ["mean.compute()", "self.score(x)", "self.net.loss(x)", "self.found.get('loss')", "r2_score(x, x)"],
)
def test_what_a_call_gives_is_asked_where_nothing_tells_what_it_is(value: str) -> None:
    """`f"{mean.compute():.4f}"` of torchmetrics, and what a method of an unknown object returns."""
    code = f'import torch\nfrom torchmetrics import MeanMetric\nfrom torchmetrics.functional import r2_score\n\nmean = MeanMetric()\n\n\nclass Run:\n    def score(self, x):\n        return self.net.loss(x)\n\n    def show(self, x):\n        print(f"{{{value}:.4f}}")\n'
    text = convert_source(code).main.replace("(ms_compat.r2_score", "(r2_score")
    assert f"plain_number({value}):.4f" in text


@pytest.mark.parametrize("value", ["len(x)", "max(1, 2)", "time.time()", "np.mean([1.0])"])
def test_a_call_that_gives_a_number_is_formatted_as_it_is(value: str) -> None:
    code = f'import time\nimport numpy as np\nimport torch\n\n\ndef show(x):\n    print(f"{{{value}:.4f}}")\n'
    assert f"{{{value}:.4f}}" in convert_source(code).main
