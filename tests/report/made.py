"""Converted projects to report on: real conversions, with the artifacts of the stages that run a framework made up."""

from __future__ import annotations

import math
import random
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from mindferry import artifacts
from mindferry.analyze import analyze_project
from mindferry.artifacts import (
    Comparison,
    Curves,
    Difference,
    Finding,
    PlainRun,
    Predictions,
    Step,
    WeightEntry,
    WeightsReport,
)
from mindferry.convert import convert_project
from mindferry.export.result import Export, ExportedFile
from mindferry.tune_record import (
    Compilation,
    Diagnosis,
    Experiment,
    Operator,
    Phase,
    PipelineStage,
    Profile,
    TuneRecord,
)
from mindferry.verify.data import PipelineComparison, PipelineDifference, Pipelines

ROOT = Path(__file__).resolve().parents[2]
NAN = math.nan

NET = '''"""A small network."""
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.bn1(self.conv1(x)) + x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.body = nn.Sequential(Block(8), Block(8))
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = self.body(self.stem(x)).mean((2, 3))
        return self.fc(x)
'''

LEFT = '''"""Code with calls that have no counterpart."""
import torch

from net import Net


def spy(net):
    net = torch.jit.script(net)
    torch.cuda.memory_snapshot()
    with torch.cuda.graph(net) as p:
        pass
    return net, torch.fx.symbolic_trace(net)


def broken(x):
    return x.register_hook(print)
'''


def convert(folder: Path, files: Mapping[str, str]) -> Path:
    """A project of these files, analyzed and converted as `mindferry migrate` does it."""
    source, output = folder / "project", folder / "project_ms"
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    artifacts.save(analyze_project(source), output, "analyze")
    convert_project(source, output)
    return output


def resnet50(folder: Path) -> Path:
    """The bundled example, with what `make demo` measured (resnet50.zip, written by docs/pictures.py)."""
    source, output = ROOT / "examples/resnet50_cifar10", folder / "resnet50_ms"
    artifacts.save(analyze_project(source), output, "analyze")
    convert_project(source, output)
    with zipfile.ZipFile(Path(__file__).with_name("resnet50.zip")) as archive:
        archive.extractall(output / artifacts.STATE)
    artifacts.save(plain(20), output, "plain")
    return output


def failing(folder: Path) -> Path:
    """Calls that were left, parameters without a place, a wrong module, a loss that runs away."""
    output = convert(folder, {"net.py": NET, "spy.py": LEFT, "unreadable.py": "import torch\ndef broken(:\n"})
    artifacts.save(
        weights("body.0.bn1.weight", missing=("fc.bias",), unexpected=("old.<weight>",), mismatched=("stem.weight",)),
        output,
        "weights",
    )
    artifacts.save(comparison(PATHS, wrong="body.0.bn1"), output, "verify")
    artifacts.save(curves(12, parts_at=7), output, "train")
    artifacts.save(tune(), output, "tune")
    return output


def empty(folder: Path) -> Path:
    """Every stage ran and found nothing."""
    output = folder / "nothing_ms"
    artifacts.save(artifacts.Inventory("nothing", (), (), 0, (), (), ()), output, "analyze")
    artifacts.save(artifacts.ProjectConversion(str(folder / "nothing"), str(output), ()), output, "convert")
    artifacts.save(WeightsReport("none.pth", "none.ckpt", ()), output, "weights")
    artifacts.save(Comparison("net:Net", "", (), None, True), output, "verify")
    artifacts.save(Curves((), (), 1e-3, 0.0, True), output, "train")
    artifacts.save(TuneRecord("nothing", "train.py", Profile("MindSpore", "CPU", 0, NAN, NAN, ())), output, "tune")
    return output


PATHS = (
    "stem",
    "body.0.conv1",
    "body.0.bn1",
    "body.0.relu",
    "body.0",
    "body.1.conv1",
    "body.1.bn1",
    "body.1.relu",
    "body.1",
    "body",
    "fc",
    "",
)


def comparison(paths: Iterable[str], wrong: str = "") -> Comparison:
    """As verify writes it after a second look: everything whole and alone. All after `wrong` inherit its error."""
    dice = random.Random(7)
    rows, is_after = [], False
    for path in paths:
        is_wrong = bool(wrong) and path == wrong
        is_after = is_after or is_wrong
        inherited = (0.02 if is_after else 4e-7) * dice.uniform(0.5, 2)
        own = (0.03 if is_wrong else 3e-7) * dice.uniform(0.5, 2)
        rows.append(_row(path, "output", "eval", inherited, own))
        rows.append(_row(path, "gradient", "train", own, own))
        if path.endswith(("conv1", "bn1", "fc", "stem")):
            rows += [
                _row(f"{path}.weight", "parameter", "train", own, own, (8,)),
                _row(f"{path}.bias", "parameter", "train", own / 2, own / 2, (8,)),
            ]
    passed = all(row.passed for row in rows)
    told = Predictions(50, 50 if passed else 31, 0.91, 0.91 if passed else 0.62, () if passed else (3, 4), passed)
    bisect = (f"Culprit: {wrong} (BatchNorm2d), eval: setting eps differs.",) if wrong else ()
    return Comparison(
        "net:Net",
        "float32[2,3,16,16]",
        tuple(rows),
        told,
        passed,
        wrong,
        3.2,
        (wrong,) if wrong else (),
        diagnosis=bisect,
    )


def _row(
    name: str, kind: str, mode: str, error: float, own: float, shape: tuple[int, ...] = (2, 8, 14, 14)
) -> Difference:
    floor = 5e-6
    passed = error <= floor and own <= floor
    return Difference(
        name, kind, shape, error * 3, error, 1.0 if passed else 0.97, floor, 4e-7, own, passed, mode, 0, floor, 3e-7
    )


def curves(steps: int, parts_at: int = 0) -> Curves:
    dice = random.Random(3)
    theirs = [Step(2.3 * 0.93**n + dice.uniform(0, 0.05), 0.1 * 0.9**n, dice.uniform(1, 3)) for n in range(steps)]
    ours = [
        Step(
            step.loss * (1 + 1e-6 + (0.2 * (n - parts_at + 2) if parts_at and n + 1 >= parts_at else 0)),
            step.lr,
            step.grad_norm,
        )
        for n, step in enumerate(theirs)
    ]
    if parts_at:
        ours[-1] = Step(NAN, ours[-1].lr, NAN)
    worst = max(abs(b.loss - a.loss) / a.loss for a, b in zip(theirs, ours, strict=True) if b.loss == b.loss)
    first = (
        f"step {parts_at}: loss {ours[parts_at - 1].loss:.6g} against {theirs[parts_at - 1].loss:.6g}; body.0.bn1.weight differs most"
        if parts_at
        else ""
    )
    return Curves(
        tuple(theirs),
        tuple(ours),
        1e-3,
        worst,
        not parts_at,
        first,
        4.0,
        tuple(1e-6 * (n + 1) for n in range(steps)),
        tuple(2e-6 * (n + 1) for n in range(steps)),
    )


def plain(steps: int, fails: bool = False) -> PlainRun:
    dice = random.Random(5)
    seeds = tuple(tuple(2.3 * 0.93**n + dice.uniform(0, 0.05) for n in range(steps)) for _ in range(3))
    wrong = Finding("MF230", "error", "net.py", 7, 1, "the converted script fails: ValueError: <b>") if fails else None
    losses = () if fails else seeds[1]
    return PlainRun("python train.py", "error" if fails else "itself", "itself", losses, seeds, not fails, wrong)


def pipelines(wrong: bool = False) -> Pipelines:
    other = (PipelineDifference("epoch 1, batch 3, image", "values", "largest difference 0.5"),) if wrong else ()
    train = PipelineComparison(
        "data:train_loader", (20, 20), True, 40, 0.0, (), ("image: the same mean and spread", "label: equal")
    )
    test = PipelineComparison(
        "data:test_loader <b>", (19, 19), False, 38, 0.5 if wrong else 1e-7, other, ("image: equal", "label: equal")
    )
    return Pipelines((train, test), not wrong, 2.0)


def export(wrong: bool = False) -> Export:
    mindir = ExportedFile(
        "mindir", "export/net.mindir", not wrong, 90 << 20, 0.2 if wrong else 0.0, 3, "other numbers" if wrong else ""
    )
    return Export(
        "net:Net", ("float32[2,3,16,16]",), (mindir, ExportedFile("onnx", "", False, reason="no exporter for Erf"))
    )


def weights(*names: str, **lost: tuple[str, ...]) -> WeightsReport:
    entries = [
        WeightEntry(
            name, name.replace("bn1.weight", "bn1.gamma"), (8, 3, 3), "float32", "cell" if "bn1" in name else "exact"
        )
        for name in names
    ]
    return WeightsReport("net.pth", "net.ckpt", tuple(entries), dropped=("body.0.bn1.num_batches_tracked",), **lost)


def tune() -> TuneRecord:
    phases = (
        Phase("waiting for data", 0.012),
        Phase("forward", 0.031),
        Phase("backward", 0.058),
        Phase("optimizer", 0.009),
        Phase("unattributed", 0.002),
    )
    operators = tuple(
        Operator(f"Conv2D{n}", 0.01 / (n + 1), 4, "(2,8,14,14)", f"body.{n % 2}.conv1", "forward") for n in range(30)
    )
    pipeline = (PipelineStage("GeneratorDataset", 0.004, 2, 3.2, 16), PipelineStage("Batch", 0.001))
    ours = Profile(
        "MindSpore",
        "CPU",
        20,
        0.112,
        0.115,
        phases,
        operators,
        pipeline,
        (Compilation("construct", "net.py:18", 1, 1.4, "first call"),),
        900 << 20,
        (2.3, 2.1),
        (0.13, 0.112, 0.111),
        "",
        ("one step was left out",),
    )
    theirs = Profile(
        "torch",
        "CPU",
        20,
        0.08,
        0.081,
        (Phase("forward", 0.03), Phase("backward", 0.05)),
        step_times=(0.09, 0.08, 0.08),
    )
    slow = Diagnosis(
        "slow-loader",
        "The loader is slow",
        "11 % of the step waits for data",
        0.11,
        "more workers",
        ("workers",),
        ("net.py:18",),
    )
    tried = (
        Experiment("jit", "host-bound", "`@ms.jit` on the step", "faster", 0.112, 0.07, 1e-6, 1e-3, is_applied=True),
        Experiment("sink", "host-bound", "data sink", "untested here", command="mindferry tune OUT --only sink"),
    )
    return TuneRecord("project_ms", "train.py --epochs 1", ours, theirs, (slow,), tried, 0.112, 0.07, 1e-6)
