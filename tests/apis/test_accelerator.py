"""What accelerate does in one process: batches that count together, checkpoints, loaders that begin later."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mindferry import convert_source
from mindferry.apis.torch.compat.accelerator import skip_first_batches

LOOP = """
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset


def run(steps=3, lr=0.1):
    set_seed(0)
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    for index, p in enumerate(model.parameters()):
        torch.nn.init.constant_(p, 0.1 * (index + 1))
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)
    x = torch.linspace(-1, 1, 64).reshape(16, 4).sin()
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True) + 3), batch_size=4)
    model, opt, loader, sched = accelerator.prepare(model, opt, loader, sched)
    losses = []
    for epoch in range(2):
        for a, b in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.mse_loss(model(a), b)
                accelerator.backward(loss)
                CLIP
                opt.step()
                sched.step()
                opt.zero_grad()
            losses.append(loss.item())
    return losses
"""
CLIP = """if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)"""


def by_hand(steps: int, is_clipped: bool) -> list[float]:
    """The same in torch, without accelerate: it counts three batches together, and the last one of an epoch always counts."""
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    for index, p in enumerate(model.parameters()):
        torch.nn.init.constant_(p, 0.1 * (index + 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sched = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5)
    x = torch.linspace(-1, 1, 64).reshape(16, 4).sin()
    y = x.sum(1, keepdim=True) + 3
    losses = []
    for _ in range(2):
        for index in range(4):
            rows = slice(4 * index, 4 * index + 4)
            loss = torch.nn.functional.mse_loss(model(x[rows]), y[rows])
            (loss / steps).backward()
            losses.append(loss.item())
            if (index + 1) % steps == 0 or index == 3:
                if is_clipped:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()
    return losses


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("is_clipped", [True, False])
def test_batches_count_together(tmp_path: Path, steps: int, is_clipped: bool) -> None:
    conversion = convert_source(LOOP.replace("CLIP", CLIP if is_clipped else "pass"))
    assert [each for each in conversion.findings if each.severity != "note"] == []
    module = ModuleType("loop")
    path = tmp_path / "loop.py"
    path.write_text(conversion.code)
    exec(compile(conversion.code, str(path), "exec"), module.__dict__)
    theirs = by_hand(steps, is_clipped)
    assert np.std(theirs) > 0.1
    np.testing.assert_allclose(module.run(steps), theirs, rtol=1e-4)


def test_a_state_is_saved_and_read_back(tmp_path: Path) -> None:
    from mindspore import Tensor, nn

    from mindferry.apis.torch.compat.accelerator import Accelerator

    accelerator, net = Accelerator(), nn.Dense(2, 3)
    accelerator.prepare(net)
    before = net.weight.asnumpy().copy()
    accelerator.save_state(str(tmp_path / "state"))
    net.weight.set_data(Tensor(before * 0 + 7))
    accelerator.load_state(str(tmp_path / "state"))
    assert (net.weight.asnumpy() == before).all()


def test_a_loader_may_begin_later() -> None:
    assert skip_first_batches([1, 2, 3], 2) == [3]
