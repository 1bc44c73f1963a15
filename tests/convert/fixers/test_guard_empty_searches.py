"""`x[found]` where nothing was found: MindSpore's gradient of it fails on a CPU, so a helper takes the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

SEARCHES = {
    "named": "found = torch.where(m)[0]\n    return x[found]",
    "in the index": "return x[torch.where(m)[0]]",
    "by a method": "return x[m.nonzero(as_tuple=True)[0]]",
    "flattened": "found = m.nonzero().flatten()\n    return x[found]",
    "squeezed": "return x[torch.nonzero(m).squeeze(1)]",
}
BODY = """
def take(x, m):
    {}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.arange(12.0).reshape(4, 3) / 7)

    def forward(self, m):
        return (take(self.w * 2, m) ** 2).sum() + (self.w ** 3).sum()


def step(mask):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.tensor(mask))
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item(), plain(net.w)


def run():
    return step([True, False, True, False]), step([False] * 4)
"""


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_that_finds_nothing_has_a_gradient(search: str, both: Any) -> None:
    theirs, ours = both(BODY.format(search))
    for expected, got in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-5)
        np.testing.assert_allclose(got[1], expected[1], rtol=1e-5)
    assert np.abs(np.array(theirs[0][1]) - theirs[1][1]).max() > 0.1
