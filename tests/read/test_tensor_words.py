"""Which words tell that a file without a framework's name works on its tensors."""

from __future__ import annotations

import pytest

from mindferry.apis._framework import framework
from mindferry.read.source import Source
from mindferry.read.symbols import Symbols
from mindferry.read.tensor_words import meets_tensors

PROJECT = Symbols(framework(), roots=frozenset({"metrics"}))


@pytest.mark.parametrize(
    "call", ["x.cpu()", "x.view_as(y)", "x.unsqueeze(0)", "x.size(0)", "x.add_(1)", "torch.ones(2)"]
)
def test_what_only_tensors_have_tells(call: str) -> None:
    assert meets_tensors(Source(f"def f(x, y, torch):\n    return {call}\n"), PROJECT)


@pytest.mark.parametrize(
    "call",
    [
        "x.sum(0)",
        "x.size",
        "x.size()",
        "scipy.special.softmax(x)",
        "x.reshape(2, -1)",
        "x.view(int)",
        "cpu(x)",
        "size(x, 0)",
    ],
)
def test_what_arrays_and_others_have_does_not(call: str) -> None:
    assert not meets_tensors(Source(f"def f(x, scipy):\n    return {call}\n"), PROJECT)


def test_a_file_alone_is_given_no_tensors() -> None:
    assert not meets_tensors(Source("def f(x):\n    return x.cpu()\n"), Symbols(framework()))
