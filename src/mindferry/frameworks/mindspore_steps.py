"""What the optimizer does, the losses of a few training steps, and the outputs in mixed precision, against the golden file."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from ..verify.compare import Measurement, distance
from ..verify.golden import Golden
from ..verify.nested_inputs import call
from ..verify.nesting import leaves
from ..verify.update import LEAST, STEPS, STRIDE, phase, size_at
from .mindspore_dropout import without_dropout
from .mindspore_keras import KerasNetwork
from .mindspore_tensors import as_numpy, is_tensor, make_inputs
from .requests import Shortfall

Cell = Any
Tensor = Any


def moving_rates(optimizer: Cell) -> Iterator[Shortfall]:
    """What changes by itself from step to step here, and never in torch's optimizer; a few steps do not show when."""
    for name, said in (("dynamic_lr", "learning rate"), ("dynamic_weight_decay", "weight decay")):
        if getattr(optimizer, name, False) is True:
            why = f"its {said} changes from step to step by itself in MindSpore, and {STEPS} steps were compared"
            yield Shortfall("update", "the optimizer", "not reached", why)


def step(cell: Cell, golden: Golden, optimizer: Callable[[Cell], Cell], names: dict[str, str]) -> Iterator[Measurement]:
    """What the optimizer does to each parameter on the same made-up gradients."""
    import mindspore as ms
    import numpy as np

    made = optimizer(cell)
    second = {name for group in golden.tied for name in group[1:]}  # torch has the gradient under the first name
    sources = {target: name for name, target in names.items() if name not in second}
    before = {p.name: as_numpy(p).copy() for p in cell.get_parameters()}
    has_later = bool(golden.later_updates) and not any(moving_rates(made))
    for turn in range(STEPS + (golden.later_turns if has_later else 0)):
        if turn == STEPS:
            yield from _updates(cell, golden, golden.updates, sources, before)
        gradients = []
        for parameter in made.parameters:
            wave = np.sin(np.arange(parameter.size) * STRIDE + phase(sources.get(parameter.name, ""), turn))
            gradient = (size_at(turn) * (wave + LEAST * np.sign(wave))).astype(np.float32).reshape(parameter.shape)
            gradients.append(ms.Tensor(gradient).astype(parameter.dtype))
        made(tuple(gradients))
    yield from _updates(cell, golden, golden.later_updates if has_later else golden.updates, sources, before)


def _updates(
    cell: Cell, golden: Golden, keys: dict[str, str], sources: dict[str, str], before: dict[str, Any]
) -> Iterator[Measurement]:
    """How far each parameter went."""
    for parameter in cell.get_parameters():
        key = keys.get(sources.get(parameter.name, ""))
        if key is not None:
            update = as_numpy(parameter) - before[parameter.name]
            found = distance(update, golden.array(key), is_parameter=True)
            yield Measurement("step", "own", "update", sources[parameter.name], 0, key, update.shape, *found)


def train(
    cell: Cell, golden: Golden, loss: Callable[..., Tensor], optimizer: Callable[[Cell], Cell]
) -> Iterator[Measurement]:
    """Real training steps on the golden file's input, dropout off: the loss of each."""
    import mindspore as ms

    positional, named = make_inputs(golden, golden.inputs)
    targets = make_inputs(golden, golden.targets)[0]
    cell.set_train(True)
    made = optimizer(cell)
    is_keras = isinstance(cell, KerasNetwork)

    def forward() -> Tensor:
        value = loss(call(cell, positional, named), *targets)
        added = cell.penalties() if is_keras else None
        return value if added is None else value.sum() + added

    step = ms.value_and_grad(forward, None, made.parameters)
    with cell.shared_draws(golden.seed, lambda: "", None, []) if is_keras else without_dropout(cell):
        for number, key in enumerate(golden.steps):
            value, gradients = step()
            made(gradients)
            found = distance(as_numpy(value).reshape(()), golden.array(key).reshape(()))
            yield Measurement("steps", "own", "loss", f"step {number + 1}", 0, key, (), *found)


def mixed(cell: Cell, golden: Golden) -> Iterator[Measurement]:
    """The outputs of the network as `mindspore.amp.auto_mixed_precision` casts it, in eval mode."""
    import mindspore as ms

    positional, named = make_inputs(golden, golden.inputs)
    network = ms.amp.auto_mixed_precision(copy.deepcopy(cell).set_train(False), "auto", ms.float16)
    keys = golden.modes["amp"].outputs
    found = leaves(call(network, positional, named), is_tensor, objects=True)
    for index, (tensor, key) in enumerate(zip(found, keys, strict=True)):
        value = as_numpy(tensor)
        name = f"output {index}" if len(keys) > 1 else "output"
        yield Measurement("amp", "own", "network", name, 0, key, value.shape, *distance(value, golden.array(key)))
