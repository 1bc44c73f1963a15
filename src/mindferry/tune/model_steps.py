"""Training steps without a script: a bare model on given inputs (mean square of the outputs, plain SGD), or a step function."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import MindferryError
from ..verify.named import build, find

SPEC = re.compile(r"^(?:(\w+)=)?(\w+)\[([\d,\s]*)\](?:@(-?[\d.]+)\.\.(-?[\d.]+))?$")
RATE = 1e-4


def arrays(specs: Sequence[str]) -> list[Any]:
    """'float32[4,3,224,224]', 'ids=int64[2,16]@0..99' -> seeded arrays, the same on both sides."""
    import numpy as np

    found = []
    for number, spec in enumerate(specs):
        match = SPEC.match(spec)
        if match is None:
            raise MindferryError(f"{spec!r} is not an input; write 'float32[4,3,224,224]' or 'ids=int64[2,16]@0..99'")
        _, dtype, sizes, low, high = match.groups()
        shape = [int(size) for size in sizes.split(",") if size.strip()]
        generator = np.random.default_rng(number)
        if dtype.startswith("int"):
            found.append(generator.integers(int(low or 0), int(high or 10), shape).astype(dtype))
        else:
            values = generator.normal(size=shape) if low is None else generator.uniform(float(low), float(high), shape)
            found.append(values.astype(dtype))
    return found


def train_cell(model: str, specs: Sequence[str]) -> None:
    """In the MindSpore worker; ends when the clock has enough."""
    import mindspore as ms
    from mindspore import nn

    cell = build(model).set_train(True)
    inputs = [ms.Tensor(array) for array in arrays(specs)]
    optimizer = nn.SGD(cell.trainable_params(), RATE)

    def forward_fn(*values: Any) -> Any:
        return _mean_square(cell(*values))

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
    while True:
        _, gradients = grad_fn(*inputs)
        optimizer(gradients)


def train_module(model: str, specs: Sequence[str]) -> None:
    """In the torch worker."""
    import torch

    module = build(model).train()
    inputs = [torch.from_numpy(array) for array in arrays(specs)]
    optimizer = torch.optim.SGD(module.parameters(), RATE)
    while True:
        optimizer.zero_grad()
        _mean_square(module(*inputs)).backward()
        optimizer.step()


def call_step(function: str, count: Callable[[], int]) -> None:
    """`module:function`, called until the clock has enough; it has to make a training step each time."""
    step, calls = find(function), 0
    while True:
        step()
        calls += 1
        if calls >= 3 and not count():
            raise MindferryError(
                f"{function} was called {calls} times and no optimizer was; name a function that makes a training step"
            )


def _mean_square(output: Any) -> Any:
    while isinstance(output, tuple | list):
        output = output[0]
    return (output * output).mean()
