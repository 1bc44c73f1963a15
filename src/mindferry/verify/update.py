"""A few optimizer steps on made-up gradients: what the optimizer does, apart from what the network does.

The gradients are a sine of the element's number, bounded away from zero, so that both sides can make the same without
a common random generator, and without Adam dividing by almost nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

STEPS = 3
LATER, LATER_OF_MANY = 120, 30  # more steps, of ever larger gradients: warm-ups end, averages come in, clipping begins
MANY = 24  # parameters
LIGHT = 1 << 20  # elements of all of them, beyond which there are no more steps
LARGER, TURNS = 10.0, 6  # times, and how often before it is small again
STRIDE, SIZE, LEAST = 0.7, 1e-2, 0.5

Tensor = Any  # torch.Tensor


def phase(name: str, step: int) -> float:
    return zlib.crc32(name.encode()) % 1000 + 1.3 * step


def size_at(step: int) -> float:
    return SIZE * (LARGER ** (step % TURNS) if step >= STEPS else 1.0)


def turns_for(sizes: Sequence[int]) -> int:
    """How many steps come after the first, for parameters of these sizes."""
    if sum(sizes) > LIGHT:
        return 0
    return LATER if len(sizes) <= MANY else LATER_OF_MANY


def run_steps(model: Any, make: Callable[[Any], Any], keep: Callable[[str, Tensor], None], turns: int = 0) -> list[str]:
    """Step the optimizer that `make(model)` gives; `keep(name, update)` sees how far each parameter went, and `later/name` after more turns."""
    import torch

    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = make(model)
    for step in range(STEPS + turns):
        if step == STEPS:
            _keep_all(model, before, keep, "")
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                wave = torch.sin(torch.arange(parameter.numel(), dtype=torch.float64) * STRIDE + phase(name, step))
                gradient = size_at(step) * (wave + LEAST * torch.sign(wave))
                parameter.grad = gradient.float().reshape(parameter.shape).to(parameter)
        optimizer.step()
    _keep_all(model, before, keep, "later/" if turns else "")
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(before[name])
            parameter.grad = None
    return list(before)


def _keep_all(model: Any, before: dict[str, Tensor], keep: Callable[[str, Tensor], None], start: str) -> None:
    for name, parameter in model.named_parameters():
        keep(f"{start}{name}", parameter.detach() - before[name])


def train_steps(model: Any, make: Callable[[Any], Any], loss: Callable[[], Tensor], steps: int) -> list[Tensor]:
    """The loss of each of a few training steps; the model is as before afterwards."""
    import torch

    before = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    model.train()
    optimizer, losses = make(model), []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        losses.append(value.detach())
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(before[name])
    return losses
