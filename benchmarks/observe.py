"""What it costs to be watched: `python benchmarks/observe.py` runs two training scripts plainly and observed, and prints ratios.

CPU time is compared, of the training loop and of the whole process, so that a busy machine doesn't count; the least of
a few runs each, in turn. Written to benchmarks/results/observe.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mindferry.frameworks.watched import Watch, run_watched
from mindferry.layout import find_files
from mindferry.observe.sites import unclear_sites

RESULT = Path(__file__).parent / "results" / "observe.json"
LIMIT = 2.0  # times as much as without
LOOP = """
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
net.train()


def train(batches):
    for batch in batches:
        x, y = batch["x"], batch["y"]
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
    return loss


train(data[:2])
began = time.process_time()
train(data * {rounds})
print("LOOP", time.process_time() - began)
"""
MLP = """import time
import torch
from torch import nn

torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
data = [{"x": torch.randn(32, 32), "y": torch.randint(0, 10, (32,))} for _ in range(20)]
"""
RESNET18 = """import time
import torch
from torch import nn

torch.set_num_threads(1)


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.down = None
        if stride != 1 or inside != outside:
            self.down = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        kept = x if self.down is None else self.down(x)
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)) + kept)


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        widths = [64, 64, 128, 256, 512]
        self.layers = nn.ModuleList()
        for number in range(4):
            inside, outside = widths[number], widths[number + 1]
            self.layers.append(Block(inside, outside, 1 if number == 0 else 2))
            self.layers.append(Block(outside, outside, 1))
        self.fc = nn.Linear(512, 10)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = layer(x)
        return self.fc(x.mean((2, 3)))


net = ResNet18()
data = [{"x": torch.randn(2, 3, 64, 64), "y": torch.randint(0, 10, (2,))} for _ in range(3)]
"""
WORKLOADS = {"small MLP, 600 steps": (MLP, 30), "ResNet-18, 12 steps": (RESNET18, 4)}


def plain(folder: Path) -> tuple[float, float]:
    """CPU seconds of the loop, and of the process."""
    return _measured(
        lambda: subprocess.run([sys.executable, "train.py"], cwd=folder, capture_output=True, text=True).stdout
    )


def observed(folder: Path) -> tuple[float, float]:
    wanted = {path: sorted(spans) for path, spans in unclear_sites(find_files(folder, ())).items()}
    watch = Watch(folder, "observe", sites=wanted)
    with tempfile.TemporaryDirectory() as scratch:
        return _measured(lambda: run_watched([sys.executable, "train.py"], folder, watch, Path(scratch)).output)


def _measured(run) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    before = os.times()
    output = run()
    after = os.times()
    loop = re.search(r"LOOP ([\d.]+)", output)
    if loop is None:
        raise SystemExit(f"the script failed: {output[-500:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return float(loop.group(1)), used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    found = {}
    for name, (start, rounds) in WORKLOADS.items():
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home)
            (folder / "train.py").write_text(start + LOOP.replace("{rounds}", str(rounds)))
            pairs = [(plain(folder), observed(folder)) for _ in range(options.runs)]
        loops, wholes = ([min(pair[side][part] for pair in pairs) for side in (0, 1)] for part in (0, 1))
        found[name] = {"loop": loops[1] / loops[0], "process": wholes[1] / wholes[0], "loop_seconds": loops}
        print(
            f"{name}: the loop takes {loops[1] / loops[0]:.2f} times as much CPU time when observed "
            f"({loops[0]:.2f} s to {loops[1]:.2f} s), the process {wholes[1] / wholes[0]:.2f} times"
        )
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    raise SystemExit(0 if all(each["loop"] <= LIMIT for each in found.values()) else 1)


if __name__ == "__main__":
    main()
