"""Work grows with the size of a file, not with its square or worse: counted in calls, so that no machine's speed matters."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from mindferry import convert_source
from mindferry.convert.project import has_training_loop

HEAD = "import torch\nimport torch.nn as nn\n\n"


def _chain(count: int) -> str:
    """Functions that each call two others, so that the ways through them are as many as 2 ** count."""
    parts = [f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 2}(x)\n" for i in range(count)]
    ends = [f"def f{i}(x):\n    return x * 2\n" for i in (count, count + 1)]
    return HEAD + "\n".join([*parts, *ends, "def train(x, w):\n    loss = f0(x).sum()\n    loss.backward()\n"])


def _methods(count: int) -> str:
    """A class whose every method takes a step, and reads what the others left."""
    method = (
        "    def step{0}(self, x, optimizer):\n        optimizer.zero_grad()\n        self.out{0} = helper(x)\n"
        "        loss = (self.net(x) + self.out{1}).sum()\n        loss.backward()\n        optimizer.step()\n"
    )
    body = "\n".join(method.format(i, (i + 1) % count) for i in range(count))
    return (
        f"{HEAD}def helper(x):\n    return x\n\nclass Trainer:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n\n"
        + body
    )


def _in_place(count: int) -> str:
    """One name whose tensor is changed in place again and again."""
    return f"{HEAD}def f():\n    x = torch.zeros(3)\n" + "    x.add_(1)\n" * count + "    return x\n"


def _residuals(count: int) -> str:
    """One long method, every layer of which gets a tensor that is read again."""
    made = "".join(f"        self.act{i} = nn.ReLU(inplace=True)\n" for i in range(count))
    used = "".join(f"        x = x + self.act{i}(x)\n" for i in range(count))
    return (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{made}\n"
        f"    def forward(self, x):\n{used}        return x\n"
    )


def _imports(count: int) -> str:
    return HEAD + "".join(f"from torch.nn import Linear as L{i}\n" for i in range(count))


def _blocks(count: int) -> str:
    """One function with a block without gradients after the other."""
    blocks = "".join(f"    with torch.no_grad():\n        y{i} = x * 2\n    x = x + y{i}\n" for i in range(count))
    return f"{HEAD}def f(x):\n    x = torch.relu(x)\n{blocks}    return x\n"


def _mixed(count: int) -> str:
    """Two variables, each computed from both: the ways from the sum to the first line are as many as 2 ** count."""
    lines = "".join(f"    a{i + 1} = a{i} + b{i}\n    b{i + 1} = a{i} * b{i}\n" for i in range(count))
    return f"{HEAD}def f():\n    a0 = torch.ones(3)\n    b0 = torch.ones(3)\n{lines}    return torch.sum(a{count})\n"


def _training_loops(count: int) -> str:
    """A script that trains again and again: every loss stands in the same scope."""
    step = (
        "for x, y in loader:\n    optimizer.zero_grad()\n    loss = nn.functional.mse_loss(model(x), y)\n"
        "    loss.backward()\n    optimizer.step()\n"
    )
    return f"{HEAD}model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + step * count


def _leaves(count: int) -> str:
    """Every loss stands in the same block, behind all those before it."""
    one = (
        "w{0} = torch.randn(3, requires_grad=True)\nloss{0} = (w{0} ** 2).sum()\nloss{0}.backward()\n"
        "with torch.no_grad():\n    w{0} -= 0.1 * w{0}.grad\n"
    )
    return HEAD + "".join(one.format(i) for i in range(count))


def _loop_in_place(count: int) -> str:
    """Two names, changed in place again and again in a loop, each seen by the caller."""
    return (
        f"{HEAD}def f(x, w):\n    for k in range(3):\n"
        + "        x.mul_(2)\n        w.add_(x)\n" * count
        + "    return x\n"
    )


def _long_function(count: int) -> str:
    """One name that gets a value in every line, computed from all that it had before."""
    return f"{HEAD}def f(x):\n" + "    y = torch.relu(x)\n    x = y.sum().unsqueeze(0)\n" * count + "    return x\n"


def _branches(count: int) -> str:
    branch = "    if mode:\n        x = x.view(2, -1)\n    else:\n        x = torch.cat([x, x])\n"
    return f"{HEAD}def f(x, mode):\n" + branch * count + "    return x\n"


def _derivatives(count: int) -> str:
    one = (
        "def penalty{0}(net, x):\n    x = x.detach().requires_grad_(True)\n    out{0} = net(x)\n"
        "    g, = torch.autograd.grad(out{0}.sum(), x, create_graph=True)\n    return g.norm()\n"
    )
    return HEAD + "".join(one.format(i) for i in range(count))


def _calls(text: str) -> int:
    count = 0

    def note(frame: FrameType, event: str, given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        convert_source(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (_chain, 20),
        (_methods, 20),
        (_in_place, 100),
        (_residuals, 100),
        (_imports, 200),
        (_blocks, 50),
        (_mixed, 8),
        (_training_loops, 20),
        (_leaves, 16),
        (_loop_in_place, 40),
        (_long_function, 30),
        (_branches, 60),
        (_derivatives, 30),
    ],
)
def test_twice_the_code_is_not_four_times_the_work(make: object, count: int) -> None:
    assert callable(make)
    convert_source(make(4))  # the table of rules is read once
    small, large = _calls(make(count)), _calls(make(2 * count))
    assert large < 2.6 * small


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"for epoch in range(3):\n    loss.backward()\n", True),
        (b"while True:\n# a note\n\n    if x:\n        optimizer(grads)\n", True),
        (b"def fit():\n    for epoch in range(3):\n        loss.backward()\n", False),
        (b"for a in names:\n    print(a)\nloss.backward()\n", False),
        (b"for a in names:\n" + b"        print(a, '  ')\n   \n" * 400 + b"end = 1\n", False),
    ],
)
def test_a_long_loop_of_a_script_is_read_line_by_line_for_a_training_step(text: bytes, expected: bool) -> None:
    assert has_training_loop(text) is expected
