"""Faults in training loops that `mindferry train` has to find and to name: a script, its conversion by hand, and a word of the cause.

    python -m tests.verify.loop_faults [--keep FILE] [NAME ...]

The right conversion must not be called different.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mindferry.artifacts import save
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
    fault("the rate of one group", '"lr": 0.02', '"lr": 0.04', "rate"),
    fault("decay of the other group", '"lr": 0.2}', '"lr": 0.2, "weight_decay": 0.1}', "decay"),
    fault("decay that is missing", ', "weight_decay": 0.1', "", "decay"),
    fault("momentum", "momentum=0.9", "momentum=0.8", "momentum"),
    fault("Nesterov's momentum", "momentum=0.9", "momentum=0.9, nesterov=True", "nesterov"),
    fault("dampening", "momentum=0.9", "momentum=0.9, dampening=0.5", "dampening"),
    fault("a shorter warm-up", "(n + 1) / 4", "(n + 1) / 3", "schedule"),
    fault("a warm-up a step late", "(n + 1) / 4", "n / 4", "schedule"),
    fault(
        "a schedule in each part", "total += loss.item()", "total += loss.item()\n        schedule.step()", "schedule"
    ),
    fault("clipping at another norm", "trainable_params(), 0.5)", "trainable_params(), 0.4)", "clipping"),
    fault("no clipping", "    ms_compat.clip_grad_norm(model.trainable_params(), 0.5)\n", "", "clipping"),
    fault(
        "clipping of one layer",
        "norm(model.trainable_params(), 0.5)",
        "norm(head.trainable_params(), 0.5)",
        "clipping",
        "gradient",
    ),
    fault("labels that are not smoothed", "label_smoothing=0.1", "label_smoothing=0.0", "loss"),
    fault("labels that are not ignored", "ignore_index=0", "ignore_index=-100", "loss"),
    fault("parts that are summed", "criterion(model(x), y) / 2", "criterion(model(x), y)", "loss"),
    fault(
        "gradients that are not accumulated",
        "loss = ms_compat.backward",
        "ms_compat.clear_gradients(optimizer)\n        loss = ms_compat.backward",
        "gradient",
        "accumulation",
    ),
    fault(
        "gradients that are never cleared", "    ms_compat.clear_gradients(optimizer)\n", "", "gradient", "accumulation"
    ),
    fault(
        "a step after each part",
        "        total +=",
        "        ms_compat.apply_gradients(optimizer)\n        total +=",
        "step",
        "order",
    ),
    fault(
        "a frozen layer",
        "optimizer = ms_compat.SGD",
        "body[0].bias.requires_grad = False\noptimizer = ms_compat.SGD",
        "0.0.bias",
        "bias",
    ),
    fault(
        "a head that is not optimized", ', {"params": ms_compat.parameters(head), "lr": 0.2}', "", "1.weight", "head"
    ),
    fault("an average that moves faster", "(ours * 0.9) + 0.1 * theirs", "(ours * 0.8) + 0.2 * theirs", "average"),
    fault(
        "an average of the head alone",
        "ms_compat.parameters(average), ms_compat.parameters(model)",
        "ms_compat.parameters(average[1]), ms_compat.parameters(model[1])",
        "average",
    ),
    fault("another step in the checkpoint", '"step": number}', '"step": number + 1}', "step"),
    fault("a checkpoint without the average", '"average": ms_compat.state_dict(average), ', "", "average"),
    fault("a loss that is printed otherwise", "{total:.4f}", "{total / 2:.4f}", "figures", "print"),
    fault("the other group's rate is printed", "get_last_lr()[0]", "get_last_lr()[1]", "figures", "print"),
    fault(
        "an early stop", "    schedule.step()\n", "    schedule.step()\n    if total < 0.6:\n        break\n", "steps"
    ),
)


def said_of(case: LoopFault, folder: Path) -> list[object]:
    """[found, named, what was said]; listed means found for what is not computed: prints and checkpoints."""
    from mindferry.convert import convert_project
    from mindferry.train import train_side_by_side

    source, output = folder / "source", folder / "output"
    source.mkdir()
    (source / "train.py").write_text(REFERENCE)
    save(convert_project(source, output), output, "convert")
    text = (output / "train.py").read_text()
    for before, after in case.edits:
        assert text.count(before) == 1, (before, text)
        text = text.replace(before, after)
    (output / "train.py").write_text(text)
    try:
        curves = train_side_by_side(output, Train("train.py", (), STEPS, 1e-5))
    except MindferryError as error:
        told = str(error)
        return [True, any(word in told for word in case.words), f"refused: {told}"]
    told = "; ".join((curves.cause or curves.first_difference, *curves.conduct))
    is_found = not curves.passed or bool(curves.conduct)
    return [is_found, is_found and any(word in told for word in case.words), f"{curves.passed} {told}"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Faults in training loops.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--keep", type=Path, help="results so far; a second run goes on from there")
    options = parser.parse_args()
    kept = Kept(options.keep)
    for case in (RIGHT, *LOOP_FAULTS):
        if case.name in kept.results or (options.names and case.name not in options.names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            kept.add(case.name, said_of(case, Path(folder)))
        found, named, said = kept.results[case.name]
        print(f"{case}: {'named' if named else 'found' if found else 'NOT FOUND'} -> {str(said)[:300]}", flush=True)
    ran = [kept.results[case.name] for case in LOOP_FAULTS if case.name in kept.results]
    found, named = (sum(bool(each[place]) for each in ran) for place in (0, 1))
    right = kept.results.get(RIGHT.name, ["not run"])[0]
    print(
        f"{len(ran)} of {len(LOOP_FAULTS)} faults in loops: {found} found, {named} named; the right one is called wrong: {right}"
    )


if __name__ == "__main__":
    main()
