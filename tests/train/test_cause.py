"""`mindferry train` says why two trainings part: the setting with which torch would have done what the conversion did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mindferry.frameworks.requests import TrainStep
from mindferry.train.cause import History, cause_of
from mindferry.train.exchange import Exchange

from .test_side_by_side import pair, run

REFERENCE = """
import torch
from torch import nn
torch.manual_seed(2)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
for number in range(5):
    x, y = torch.randn(6, 4), torch.randn(6, 2)
    loss = ((model(x) - y) ** 2).sum()
    optimizer.zero_grad(); loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step(); schedule.step()
"""
CONVERTED = """
import mindspore as ms
from mindspore import nn, ops
model = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2)).set_train()
optimizer = ms.experimental.optim.SGD(model.trainable_params(), lr=0.1, momentum=0.9, weight_decay=0.01)
schedule = ms.experimental.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
for number in range(5):
    x, y = ops.randn(6, 4), ops.randn(6, 2)
    loss, grads = ms.value_and_grad(lambda: ((model(x) - y) ** 2).sum(), None, optimizer.parameters)()
    grads = ops.clip_by_global_norm(grads, 1.0)
    optimizer(grads); schedule.step()
"""


def test_a_missing_momentum_is_told_by_replaying_a_step(tmp_path: Path) -> None:
    from mindferry.config import Train
    from mindferry.train import train_side_by_side

    output = pair(tmp_path, CONVERTED.replace("momentum=0.9", "momentum=0.0"), REFERENCE)
    curves = train_side_by_side(output, Train("train.py", (), 5, 1e-5))
    assert curves.cause.startswith("momentum is 0.9 in torch and about 0 in MindSpore"), curves


def test_a_right_training_has_no_cause(tmp_path: Path) -> None:
    assert run(pair(tmp_path, CONVERTED, REFERENCE))[0]


SETTINGS = {"lr": 0.1, "momentum": 0.9, "dampening": 0.0, "weight_decay": 0.01, "nesterov": False}
ADAM = {"lr": 0.01, "betas": [0.9, 0.98], "eps": 1e-6, "weight_decay": 0.1, "amsgrad": False}


def trained(
    kind: str, settings: dict[str, object], gradients: list[np.ndarray], start: np.ndarray, decayed: bool = True
) -> list[np.ndarray]:
    import torch

    weights = [torch.tensor(start.copy()), torch.tensor(start[:3].copy())]
    more = dict(settings) if decayed else {**settings, "weight_decay": 0.0}
    optimizer = getattr(torch.optim, kind)([{"params": weights[:1], **settings}, {"params": weights[1:], **more}])
    found = [[tensor.numpy().copy() for tensor in weights]]
    for gradient in gradients:
        weights[0].grad, weights[1].grad = torch.tensor(gradient), torch.tensor(gradient[:3])
        optimizer.step()
        found.append([tensor.numpy().copy() for tensor in weights])
    return found


def history(
    folder: Path, kind: str, settings: dict[str, object], changed: dict[str, object], **options: object
) -> History:
    """Two trainings of made-up gradients: torch's, and one with other settings."""
    random = np.random.RandomState(len(changed) + 7)
    gradients, start = [random.randn(40) for _ in range(4)], random.randn(40)
    ours_kind = str(options.pop("ours", kind))
    scale = float(options.pop("scale", 1.0))  # type: ignore[arg-type]
    theirs = trained(kind, settings, gradients, start)
    ours = trained(ours_kind, {**settings, **changed}, [scale * each for each in gradients], start, **options)  # type: ignore[arg-type]
    exchange, names = Exchange(folder), ("0:fc.weight", "0:fc.bias")
    for step in range(4):
        for prefix, weights, factor in (("", theirs, 1.0), ("ours-", ours, scale)):
            exchange.write_step(f"{prefix}before-{step}", dict(zip(names, weights[step], strict=True)))
            exchange.write_step(f"{prefix}after-{step}", dict(zip(names, weights[step + 1], strict=True)))
            both = factor * gradients[step], factor * gradients[step][:3]
            exchange.write_step(f"{prefix}gradients-{step}", dict(zip(names, both, strict=True)))
        groups = [{"params": [name], "settings": settings} for name in names]
        exchange.write_optimizer(step, {"kind": kind, "groups": groups})
    norms = [float(np.linalg.norm(each)) for each in gradients]
    rates = [float(str({**settings, **changed}["lr"])) for _ in norms]
    theirs_steps = [TrainStep(1.0, float(str(settings["lr"])), norm, batch=(0, i)) for i, norm in enumerate(norms)]
    ours_steps = [
        TrainStep(1.0, rate, scale * norm, batch=(0, i))
        for i, (rate, norm) in enumerate(zip(rates, norms, strict=True))
    ]
    return History(exchange, theirs_steps, ours_steps)


@pytest.mark.parametrize(
    ("kind", "changed", "options", "said"),
    [
        ("SGD", {"lr": 0.2}, {}, "the learning rate is 0.1 in torch and 0.2 in MindSpore at step 1"),
        ("SGD", {"momentum": 0.8}, {}, "momentum is 0.9 in torch and about 0.8 in MindSpore"),
        ("SGD", {"weight_decay": 0.0}, {}, "weight decay is 0.01 in torch and about 0 in MindSpore"),
        ("SGD", {"nesterov": True}, {}, "nesterov is False in torch and True in MindSpore"),
        ("SGD", {}, {"decayed": False}, "weight decay is 0.01 in torch and about 0 in MindSpore of fc.bias"),
        ("SGD", {}, {"scale": 2.0}, "the gradients are 2 times as large"),
        ("AdamW", {"betas": [0.9, 0.999]}, {}, "beta 2 is 0.98 in torch and about 0.999 in MindSpore"),
        ("AdamW", {"betas": [0.8, 0.98]}, {}, "beta 1 is 0.9 in torch and about 0.8 in MindSpore"),
        ("AdamW", {}, {"ours": "Adam"}, "weight decay is added to the gradient in MindSpore"),
    ],
)
def test_the_setting_that_differs_is_named(
    kind: str, changed: dict[str, object], options: dict[str, object], said: str, tmp_path: Path
) -> None:
    settings = SETTINGS if kind == "SGD" else ADAM
    assert cause_of(history(tmp_path, kind, settings, changed, **options)).startswith(said)


def test_a_schedule_clipping_and_the_order_of_data_are_told_from_the_steps(tmp_path: Path) -> None:
    found = history(tmp_path, "SGD", SETTINGS, {})
    rates = (0.1, 0.1, 0.05, 0.05), (0.1, 0.05, 0.05, 0.025)
    steps = [[replace(step, lr=rate) for step, rate in zip(found.reference, side, strict=True)] for side in rates]
    assert cause_of(History(found.exchange, *steps)).startswith("the schedule comes a step too early")
    found = history(tmp_path, "SGD", SETTINGS, {}, scale=3.0)
    clipped = [replace(step, grad_norm=1.0) for step in found.reference]
    said = cause_of(History(found.exchange, clipped, found.converted))
    assert said.startswith("clipping: torch clips to a norm of 1, the conversion not at all")
    other = [replace(found.converted[0], batch=(0, 3)), *found.converted[1:]]
    said = cause_of(History(found.exchange, found.reference, other))
    assert "torch is at batch 1 of loop 1, the conversion at batch 4 of loop 1" in said


def test_a_rate_that_is_off_by_a_factor_under_a_schedule_is_no_schedule(tmp_path: Path) -> None:
    found = history(tmp_path, "SGD", SETTINGS, {})
    rates = (0.025, 0.05, 0.1, 0.1), (0.05, 0.1, 0.2, 0.2)
    steps = [[replace(step, lr=rate) for step, rate in zip(found.reference, side, strict=True)] for side in rates]
    assert cause_of(History(found.exchange, *steps)).startswith("the learning rate is 2 times torch's in every step")


def test_the_setting_is_that_of_the_group_which_differs(tmp_path: Path) -> None:
    """Torch decays the first group alone, the conversion both."""
    found = history(tmp_path, "SGD", {**SETTINGS, "weight_decay": 0.1}, {}, decayed=True)
    for step in range(4):
        groups = found.exchange.read_optimizer(step)["groups"]
        groups[1]["settings"] = {**groups[1]["settings"], "weight_decay": 0.0}
        found.exchange.write_optimizer(step, {"kind": "SGD", "groups": groups})
    theirs = trained("SGD", {**SETTINGS, "weight_decay": 0.1}, _gradients_of(found), _start_of(found), decayed=False)
    for step in range(4):
        for kind, place in (("before", step), ("after", step + 1)):
            found.exchange.write_step(f"{kind}-{step}", dict(zip(NAMES, theirs[place], strict=True)))
    assert cause_of(found).startswith("weight decay is 0 in torch and about 0.1 in MindSpore of fc.bias")


NAMES = ("0:fc.weight", "0:fc.bias")


def _gradients_of(found: History) -> list[np.ndarray]:
    return [found.exchange.read_step(f"gradients-{step}")[NAMES[0]] for step in range(4)]


def _start_of(found: History) -> np.ndarray:
    return np.asarray(found.exchange.read_step("before-0")[NAMES[0]])
