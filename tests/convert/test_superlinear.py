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
    [(_chain, 20), (_methods, 20), (_in_place, 100), (_residuals, 100), (_imports, 200), (_blocks, 50), (_mixed, 8)],
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
