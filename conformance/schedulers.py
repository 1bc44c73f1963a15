"""Every public class of torch.optim.lr_scheduler through conversion: 50 steps, every group's rate and momentum compared."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindferry.apis.checks.cases import _load
from mindferry.convert import convert_source

from .drive import Group

STEPS, RTOL = 50, 1e-9
PRELUDE = "import math\nimport torch\nfrom torch import nn, optim\nfrom torch.optim import lr_scheduler\n\n\n"
SGD = "optim.SGD([{'params': params[:1]}, {'params': params[1:], 'lr': 0.05}], lr=0.1, momentum=0.9)"
ADAM = "optim.Adam(params, lr=0.01)"
OWN = """class Warmup(lr_scheduler.LRScheduler):
    def __init__(self, optimizer, warmup, last_epoch=-1):
        self.warmup = warmup
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * min(1.0, (self.last_epoch + 1) / self.warmup) for base in self.base_lrs]


"""
CASES: tuple[tuple[str, str], ...] = (
    ("LambdaLR", "lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.95**epoch)"),
    ("LambdaLR", "lr_scheduler.LambdaLR(optimizer, lr_lambda=[lambda e: 1 / (e + 1), lambda e: math.cos(e / 9)])"),
    ("MultiplicativeLR", "lr_scheduler.MultiplicativeLR(optimizer, lr_lambda=lambda epoch: 0.95)"),
    ("StepLR", "lr_scheduler.StepLR(optimizer, step_size=7, gamma=0.5)"),
    ("MultiStepLR", "lr_scheduler.MultiStepLR(optimizer, [5, 5, 20, 31], 0.3)"),
    ("ConstantLR", "lr_scheduler.ConstantLR(optimizer, factor=0.25, total_iters=11)"),
    ("LinearLR", "lr_scheduler.LinearLR(optimizer)"),
    ("LinearLR", "lr_scheduler.LinearLR(optimizer, start_factor=0.9, end_factor=0.1, total_iters=30)"),
    ("ExponentialLR", "lr_scheduler.ExponentialLR(optimizer, gamma=0.93)"),
    ("PolynomialLR", "lr_scheduler.PolynomialLR(optimizer, total_iters=40, power=2.0)"),
    ("CosineAnnealingLR", "lr_scheduler.CosineAnnealingLR(optimizer, T_max=13, eta_min=1e-4)"),
    ("CosineAnnealingWarmRestarts", "lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=6)"),
    (
        "CosineAnnealingWarmRestarts",
        "lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=4, T_mult=2, eta_min=1e-3)",
    ),
    ("CyclicLR", "lr_scheduler.CyclicLR(optimizer, 1e-3, 1e-1, step_size_up=6, step_size_down=9)"),
    ("CyclicLR", "lr_scheduler.CyclicLR(optimizer, [1e-3, 2e-3], [1e-1, 3e-1], step_size_up=5, mode='triangular2')"),
    (
        "CyclicLR",
        "lr_scheduler.CyclicLR(optimizer, 1e-3, 1e-1, step_size_up=5, mode='exp_range', gamma=0.97, cycle_momentum=False)",
    ),
    (
        "CyclicLR",
        "lr_scheduler.CyclicLR(optimizer, 1e-3, 1e-1, 5, scale_fn=lambda x: 1 / (1 + x), scale_mode='iterations')",
    ),
    ("OneCycleLR", "lr_scheduler.OneCycleLR(optimizer, max_lr=0.3, total_steps=STEPS)"),
    (
        "OneCycleLR",
        "lr_scheduler.OneCycleLR(optimizer, [0.3, 0.1], epochs=5, steps_per_epoch=10, anneal_strategy='linear', three_phase=True)",
    ),
    (
        "ReduceLROnPlateau",
        "lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2, cooldown=1, min_lr=[1e-3, 1e-2])",
    ),
    (
        "ReduceLROnPlateau",
        "lr_scheduler.ReduceLROnPlateau(optimizer, 'max', 0.7, 3, threshold=0.05, threshold_mode='abs')",
    ),
    (
        "SequentialLR",
        "lr_scheduler.SequentialLR(optimizer, [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=8), "
        "lr_scheduler.CosineAnnealingLR(optimizer, 20), lr_scheduler.ExponentialLR(optimizer, 0.9)], milestones=[8, 30])",
    ),
    (
        "SequentialLR",
        "lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer, 0.1), "
        "lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 5, 2)], [10])",
    ),
    (
        "ChainedScheduler",
        "lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(optimizer, 0.1, 9), "
        "lr_scheduler.ExponentialLR(optimizer, 0.95)])",
    ),
    ("LRScheduler", "Warmup(optimizer, 12)"),
)


@dataclass(frozen=True, slots=True)
class Record:
    """One scheduler over one optimizer: the largest relative difference of a rate or momentum."""

    name: str
    source: str
    worst: float
    reason: str = ""

    @property
    def is_right(self) -> bool:
        return not self.reason


def run(only: Iterable[str] = (), note: Callable[[Record], None] | None = None) -> list[Record]:
    wanted, records = set(only), []
    for name, call, optimizer in _configurations():
        if wanted and name not in wanted:
            continue
        record = _check(name, call, optimizer)
        records.append(record)
        if note is not None:
            note(record)
    return records


def names(payload: Any, link: Any) -> list[str]:
    """In the worker: every scheduler."""
    return list(dict.fromkeys(name for name, _ in CASES))


def check_all(payload: Any, link: Any) -> dict[str, Any]:
    """In the worker: the configurations of one scheduler from `start` on."""
    own = [each for each in _configurations() if each[0] == payload["name"]]
    for index, (name, call, optimizer) in enumerate(own[: payload["samples"]]):
        if index >= payload["start"]:
            link.report({"index": index, "source": call, "reason": "running"})
            link.report({"index": index, "source": call, "reason": _check(name, call, optimizer).reason})
    return {}


def _configurations() -> list[tuple[str, str, str]]:
    """Every case over SGD with two groups, and over Adam where one value does for all groups."""
    return [
        (name, call.replace("STEPS", str(STEPS)), optimizer)
        for name, call in CASES
        for optimizer in ((SGD, ADAM) if "[" not in call or "optimizer, [lr" in call else (SGD,))
    ]


def _check(name: str, call: str, optimizer: str) -> Record:
    source = f"{PRELUDE}{OWN}def make(params):\n    optimizer = {optimizer}\n    return optimizer, {call}\n"
    try:
        conversion = convert_source(source)
        errors = [each.message for each in conversion.findings if each.severity == "error"]
        if errors:
            return Record(name, call, 0.0, f"not converted: {errors[0]}")
        with tempfile.TemporaryDirectory() as folder:
            theirs = _load(source, Path(folder) / "schedule_torch.py")
            ours = _load(conversion.code, Path(folder) / "schedule_ms.py")
            worst, reason = _follow(name, theirs, ours)
            return Record(name, call, worst, reason)
    except Exception as error:
        return Record(name, call, 0.0, f"{type(error).__name__}: {error}")


def _follow(name: str, theirs: Any, ours: Any) -> tuple[float, str]:
    import mindspore as ms
    import numpy as np
    import torch

    reference = theirs.make([torch.nn.Parameter(torch.ones(2)) for _ in range(2)])
    subject = ours.make([ms.Parameter(ms.Tensor(np.ones(2, "float32")), name=f"p{index}") for index in range(2)])
    metrics = np.random.default_rng(3).random(STEPS).cumsum() ** -0.5 + np.random.default_rng(4).random(STEPS) * 0.05
    worst, seen = 0.0, set()
    for step in range(STEPS):
        expected, actual = _rates(*reference), _rates(*subject)
        seen.add(tuple(expected))
        difference = max(abs(a - b) / max(abs(b), 1e-12) for a, b in zip(actual, expected, strict=True))
        worst = max(worst, difference)
        if difference > RTOL:
            return worst, f"step {step}: {actual} instead of {expected}"
        reference[0].step()
        for pair in (reference, subject):
            pair[1].step(*([float(metrics[step])] if name == "ReduceLROnPlateau" else []))
        if step == STEPS // 2:
            subject = _resumed(ours, subject)
    return worst, "" if len(seen) > 1 else "vacuous: torch's rate never changed"


def _rates(optimizer: Any, scheduler: Any) -> list[float]:
    values = [float(each) for each in scheduler.get_last_lr()]
    for group in optimizer.param_groups:
        values += [float(group["lr"]), float(group.get("momentum", group.get("betas", (0.0,))[0]))]
    return values


def _resumed(ours: Any, subject: Any) -> Any:
    """As after a restart: a new optimizer and scheduler, with the saved states loaded."""
    import mindspore as ms
    import numpy as np

    optimizer, scheduler = ours.make(
        [ms.Parameter(ms.Tensor(np.ones(2, "float32")), name=f"p{index}") for index in range(2)]
    )
    scheduler.load_state_dict(subject[1].state_dict())
    optimizer.load_state_dict(subject[0].state_dict())
    return optimizer, scheduler


def table(records: list[Record]) -> str:
    names = list(dict.fromkeys(record.name for record in records))
    lines = [f"{'scheduler':<30} {'right':>7} {'worst difference':>17}"]
    for name in names:
        own = [record for record in records if record.name == name]
        right = f"{sum(each.is_right for each in own)}/{len(own)}"
        lines.append(f"{name:<30} {right:>7} {max(each.worst for each in own):>17.2e}")
        lines += [f"    {each.source}: {each.reason}" for each in own if each.reason]
    good = sum(all(each.is_right for each in records if each.name == name) for name in names)
    lines.append(f"{good} of {len(names)} schedulers right, {STEPS} steps, stopped and resumed half way")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance.schedulers", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these schedulers")
    records = run(
        parser.parse_args().only,
        lambda record: print("." if record.is_right else "F", end="", file=sys.stderr, flush=True),
    )
    print(file=sys.stderr)
    print(table(records))
    return 0 if records and all(record.is_right for record in records) else 1


GROUP = Group("schedulers", "schedulers", "conformance.schedulers")

if __name__ == "__main__":
    sys.exit(main())
