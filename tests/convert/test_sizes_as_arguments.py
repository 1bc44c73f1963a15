"""torch.Tensor(x.shape) makes memory of that size, also where nobody knows what x is; a tuple would be its values."""

from __future__ import annotations

import pytest
from two_frameworks import Both, same

SHAPES = [
    "torch.Tensor(x.size())",
    "torch.FloatTensor(given['k'].shape)",
    "torch.Tensor(x.shape[:1])",
    "torch.Tensor(x.size()[:-1] + (3,))",
    "torch.LongTensor(torch.Size([2, 3]))",
    "torch.Tensor(size)",
    "torch.DoubleTensor(size[1:])",
    "nn.Parameter(torch.Tensor(Holder(x).value.shape))",
]


@pytest.mark.parametrize("made", SHAPES)
def test_memory_of_a_size(both: Both, made: str) -> None:
    ours, theirs = both(f"""
def sizes(x, given):
    size = x.size()
    made = {made}
    return list(made.shape), plain(made * 0 + 1)


def run():
    x = torch.from_numpy(X)
    return sizes(x, {{"k": x[0]}})
""")
    assert same(ours, theirs)


@pytest.mark.parametrize("data", ["actions", "(1, 0, 2)", "list(x.size())", "[n for n in x.shape]"])
def test_numbers_stay_values(both: Both, data: str) -> None:
    ours, theirs = both(f"""
def values(x, actions):
    return plain(torch.LongTensor({data}))


def run():
    return values(torch.from_numpy(X), tuple(a for a, _ in [(2, "x"), (1, "y")]))
""")
    assert same(ours, theirs)
