"""Faults in training loops that `mindferry train` has to find and to name: a script, its conversion by hand, and a word of the cause.

    python -m tests.verify.loop_faults [--keep FILE] [NAME ...]

The right conversion must not be called different.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mindferry.artifacts import ProjectConversion, save
from mindferry.config import Train
from mindferry.errors import MindferryError

from .faults import Kept

STEPS = 8
REFERENCE = """
import copy
import torch
from torch import nn

torch.manual_seed(2)
body, head = nn.Sequential(nn.Linear(4, 16), nn.Tanh()), nn.Linear(16, 3)
model = nn.Sequential(body, head)
average = copy.deepcopy(model)
groups = [{"params": body.parameters(), "lr": 0.02, "weight_decay": 0.1}, {"params": head.parameters(), "lr": 0.2}]
optimizer = torch.optim.SGD(groups, lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 4))
criterion = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=0)
for number in range(8):
    optimizer.zero_grad()
    total = 0.0
    for part in range(2):
        x, y = torch.randn(6 - 2 * part, 4), torch.randint(0, 3, (6 - 2 * part,))
        y[0] = 1
        loss = criterion(model(x), y) / 2
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    schedule.step()
    with torch.no_grad():
        for ours, theirs in zip(average.parameters(), model.parameters()):
            ours.mul_(0.9).add_(theirs, alpha=0.1)
    print(f"step {number} loss {total:.4f} rate {schedule.get_last_lr()[0]:.4f}")
torch.save({"model": model.state_dict(), "average": average.state_dict(), "step": number}, "model.pt")
"""


@dataclass(frozen=True)
class LoopFault:
    name: str
    edits: tuple[tuple[str, str], ...]
    words: tuple[str, ...]  # any of which names the cause

    def __str__(self) -> str:
        return self.name


def fault(name: str, before: str, after: str, *words: str) -> LoopFault:
    return LoopFault(name, ((before, after),), words)


RIGHT = LoopFault("right", (), ())
LOOP_FAULTS = (
    fault("the rate of one group", '"lr": 0.02', '"lr": 0.04', "rate", "group"),
    fault("decay of the other group", '"lr": 0.2}', '"lr": 0.2, "weight_decay": 0.1}', "decay"),
    fault("momentum", "momentum=0.9", "momentum=0.8", "momentum"),
    fault("Nesterov's momentum", "momentum=0.9", "momentum=0.9, nesterov=True", "nesterov"),
    fault("dampening", "momentum=0.9", "momentum=0.9, dampening=0.5", "dampening"),
    fault("a shorter warm-up", "(n + 1) / 4", "(n + 1) / 3", "schedule"),
    fault("a warm-up a step late", "(n + 1) / 4", "n / 4", "schedule", "rate"),
    fault("a schedule in each part", "        total += loss.item()", "        total += loss.item()\n        schedule.step()", "schedule", "rate"),
    fault("clipping at another norm", "grads, 0.5", "grads, 0.4", "clip"),
    fault("labels that are not smoothed", "label_smoothing=0.1", "label_smoothing=0.0", "loss"),
    fault("labels that are not ignored", "ignore_index=0", "ignore_index=-100", "loss"),
    fault("parts that are summed", "criterion(model(x), y) / 2", "criterion(model(x), y)", "loss", "times"),
    fault("a mean for a sum over parts", "/ 2", "/ 3", "loss", "times"),
)
