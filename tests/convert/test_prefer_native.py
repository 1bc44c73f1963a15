"""`--prefer native`: MindSpore's own in place of exact helpers, where a project allows it, and a note of how far they are apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry.artifacts import ProjectConversion
from mindferry.convert import convert_project
from mindferry.convert.prefer_native import natives
from mindferry.convert.settings import Settings

SCRIPT = """import torch
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR

net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
optimizer = optim.{}
schedule = StepLR(optimizer, step_size=2, gamma=0.5)
x = torch.ones(4, 3)
for i in range(4):
    optimizer.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    schedule.step()
    {}
"""


def converted(
    folder: Path, optimizer: str, extra: str = "print(loss)", prefer: str = "native"
) -> tuple[str, ProjectConversion]:
    (folder / "train.py").write_text(SCRIPT.format(optimizer, extra))
    result = convert_project(folder / "train.py", folder / "out", settings=Settings(prefer=prefer))
    return (folder / "out" / "train.py").read_text(), result


def test_optimizers_schedules_and_activations_are_mindspores_own(tmp_path: Path) -> None:
    text, result = converted(tmp_path, "Adam(net.parameters(), lr=0.05, fused=True)")
    assert "optim.Adam(net.trainable_params(), lr=0.05)" in text and "lr_scheduler.StepLR(optimizer" in text
    assert "nn.Tanh()" in text and result.helpers == ("prepare_cpu",)
    notes = [finding for finding in result.findings if finding.code == "MF211"]
    assert {finding.rule.rpartition(".")[2] for finding in notes} == {"Adam", "StepLR", "Tanh"}
    assert all(finding.severity == "note" for finding in notes)


def test_exact_is_the_default(tmp_path: Path) -> None:
    text, result = converted(tmp_path, "Adam(net.parameters(), lr=0.05)", prefer="exact")
    assert "ms_compat.Adam(" in text and "ms_compat.Tanh()" in text and not result.findings


def test_a_rate_that_torch_has_by_default_is_written_out(tmp_path: Path) -> None:
    assert (
        "optim.SGD(net.trainable_params(), momentum=0.9, lr=1e-3)"
        in converted(tmp_path, "SGD(net.parameters(), momentum=0.9)")[0]
    )


@pytest.mark.parametrize(
    "extra",
    [
        'print(optimizer.param_groups[0]["lr"])',
        "print(schedule.get_last_lr())",
        'torch.save(optimizer.state_dict(), "o.pt")',
        "net[0].bias.requires_grad = False",
    ],
)
def test_a_project_that_needs_what_torchs_optimizers_hold_keeps_them(tmp_path: Path, extra: str) -> None:
    text, _ = converted(tmp_path, "Adam(net.parameters(), lr=0.05)", extra)
    assert "ms_compat.Adam(" in text and "ms_compat.StepLR(" in text and "nn.Tanh()" in text


OPTIONS: dict[str, dict[str, Any]] = {
    "StepLR": {"step_size": 5},
    "MultiStepLR": {"milestones": [3, 9]},
    "ExponentialLR": {"gamma": 0.9},
    "CosineAnnealingLR": {"T_max": 10},
    "LambdaLR": {"lr_lambda": lambda epoch: 0.9**epoch},
    "MultiplicativeLR": {"lr_lambda": lambda epoch: 0.9},
    "PolynomialLR": {"total_iters": 10},
    "CosineAnnealingWarmRestarts": {"T_0": 4, "T_mult": 2},
}


@pytest.mark.parametrize("api", [api for api in natives() if ".optim." in api])
def test_the_stated_difference_is_what_twenty_steps_give(api: str) -> None:
    import mindspore as ms
    import torch
    from mindspore import ops
    from mindspore.experimental import optim

    random = np.random.default_rng(0)
    weight, x, y = (random.standard_normal(shape).astype("float32") for shape in ((4, 3), (8, 4), (8, 3)))
    name = api.rpartition(".")[2]
    is_schedule = ".lr_scheduler." in api

    def made(module: Any, schedules: Any, parameters: list[Any]) -> tuple[Any, Any]:
        optimizer = getattr(module, "SGD" if is_schedule else name)(parameters, lr=0.05)
        return optimizer, getattr(schedules, name)(optimizer, **OPTIONS.get(name, {})) if is_schedule else None

    theirs = torch.tensor(weight, requires_grad=True)
    optimizer, schedule = made(torch.optim, torch.optim.lr_scheduler, [theirs])
    ours = ms.Parameter(ms.Tensor(weight), name="weight")
    own, own_schedule = made(optim, optim.lr_scheduler, [ours])
    grad = ms.value_and_grad(lambda a, b: ((ops.matmul(a, ours) - b) ** 2).mean(), None, own.parameters)
    for _ in range(20):
        optimizer.zero_grad()
        ((torch.tensor(x) @ theirs - torch.tensor(y)) ** 2).mean().backward()
        optimizer.step()
        own(grad(ms.Tensor(x), ms.Tensor(y))[1])
        for each in (schedule, own_schedule) if is_schedule else ():
            each.step()
    distance = float(np.abs(theirs.detach().numpy() - ours.asnumpy()).max())
    assert np.abs(ours.asnumpy() - weight).max() > 1e-3, "it moved"
    assert distance <= max(10 * float(natives()[api].difference), 1e-6)
