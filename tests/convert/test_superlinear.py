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


@pytest.mark.parametrize("make", [_chain, _methods])
def test_twice_the_code_is_not_four_times_the_work(make: object) -> None:
    assert callable(make)
    convert_source(make(4))  # the table of rules is read once
    small, large = _calls(make(20)), _calls(make(40))
    assert large < 3 * small


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
