"""A few optimizer steps on made-up gradients: what the optimizer does, apart from what the network does.

The gradients are a sine of the element's number, bounded away from zero, so that both sides can make the same without
a common random generator, and without Adam dividing by almost nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

STEPS = 3
STRIDE, SIZE, LEAST = 0.7, 1e-2, 0.5

Tensor = Any  # torch.Tensor


def phase(name: str, step: int) -> float:
    return zlib.crc32(name.encode()) % 1000 + 1.3 * step


def run_steps(model: Any, make: Callable[[Any], Any], keep: Callable[[str, Tensor], None]) -> list[str]:
    """Step the optimizer that `make(model)` gives; `keep(name, update)` sees how far each parameter went."""
    import torch

    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = make(model)
    for step in range(STEPS):
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                wave = torch.sin(torch.arange(parameter.numel(), dtype=torch.float64) * STRIDE + phase(name, step))
                gradient = SIZE * (wave + LEAST * torch.sign(wave))
                parameter.grad = gradient.float().reshape(parameter.shape).to(parameter)
        optimizer.step()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            keep(name, parameter.detach() - before[name])
            parameter.copy_(before[name])
            parameter.grad = None
    return list(before)


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
