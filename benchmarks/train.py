"""How fast a converted training loop is: against the same loop written by hand in MindSpore, and against torch.

    python benchmarks/train.py [--rounds 3]

Each loop runs in a process of its own with OMP_NUM_THREADS=1, seeded, taking turns; milliseconds a step are the median over the
rounds of the mean over all steps but the first ten. Ratios are of processor time, which other programs on the machine disturb
least; wall times are written beside it. The loops by hand are as MindSpore's own tutorials write them: its dataset, its
cross-entropy, nn.Momentum (the same kernel that the converted SGD calls), the same batches in the same order, the loss read at
every step; with jit, the whole step is one compiled function. Writes benchmarks/results/train.json; exit code 1 if a converted
loop needs more than 5 % more than the one written by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

RESULTS = Path(__file__).parent / "results" / "train.json"
ALLOWED = 1.05  # of the processor time of the loop that was written by hand

DATA = {
    "mlp, batch 32": ("random.randn(1920, 20)", "random.randint(0, 5, 1920)", "32"),
    "cnn, batch 16": ("random.randn(960, 3, 32, 32)", "random.randint(0, 5, 960)", "16"),
}
TORCH_NETS = {
    "mlp, batch 32": "nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))",
    "cnn, batch 16": "nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), "
    "nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2048, 5))",
}
HAND_NETS = {
    "mlp, batch 32": "nn.SequentialCell(nn.Dense(20, 64), nn.ReLU(), nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 5))",
    "cnn, batch 16": "nn.SequentialCell(nn.Conv2d(3, 16, 3, pad_mode='pad', padding=1, has_bias=True), nn.BatchNorm2d(16), nn.ReLU(), "
    "nn.MaxPool2d(2, 2), nn.Conv2d(16, 32, 3, pad_mode='pad', padding=1, has_bias=True), nn.BatchNorm2d(32), nn.ReLU(), "
    "nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(2048, 5))",
}
TORCH = """
import time

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
random = np.random.RandomState(0)
x = torch.from_numpy((X).astype(np.float32))
y = torch.from_numpy((Y).astype(np.int64))
net = NET
net.train()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
loader = DataLoader(TensorDataset(x, y), batch_size=BATCH)
step, start, cpu = 0, 0.0, 0.0
for epoch in range(3):
    for inputs, labels in loader:
        if step == 10:
            start, cpu = time.perf_counter(), time.process_time()
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        last = loss.item()
        step += 1
print('milliseconds', (time.process_time() - cpu) / (step - 10) * 1000, (time.perf_counter() - start) / (step - 10) * 1000, last)
"""
HAND = """
import time

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
random = np.random.RandomState(0)
x = (X).astype(np.float32)
y = (Y).astype(np.int32)
net = NET
net.set_train()
criterion = nn.CrossEntropyLoss()
optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.01, momentum=0.9)
dataset = ds.NumpySlicesDataset((x, y), ['inputs', 'labels'], shuffle=False, num_parallel_workers=1).batch(BATCH)


def forward_fn(inputs, labels):
    return criterion(net(inputs), labels)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)


JIT
def train_step(inputs, labels):
    loss, grads = grad_fn(inputs, labels)
    optimizer(grads)
    return loss


step, start, cpu = 0, 0.0, 0.0
for epoch in range(3):
    for inputs, labels in dataset.create_tuple_iterator(num_epochs=1):
        if step == 10:
            start, cpu = time.perf_counter(), time.process_time()
        loss = train_step(inputs, labels)
        last = loss.item()
        step += 1
print('milliseconds', (time.process_time() - cpu) / (step - 10) * 1000, (time.perf_counter() - start) / (step - 10) * 1000, last)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in DATA:
            scripts = write_scripts(Path(folder) / name.partition(",")[0], name)
            measured: dict[str, list[tuple[float, float]]] = {kind: [] for kind in scripts}
            for _ in range(options.rounds):
                for kind, script in scripts.items():
                    measured[kind].append(run(script))
            middle = {kind: statistics.median(cpu for cpu, _ in runs) for kind, runs in measured.items()}
            rows[name] = {
                "processor_milliseconds": {kind: round(value, 3) for kind, value in middle.items()},
                "wall_milliseconds": {
                    kind: round(statistics.median(wall for _, wall in runs), 3) for kind, runs in measured.items()
                },
                "converted_over_hand": round(middle["converted"] / middle["by hand"], 3),
                "converted_jit_over_hand_jit": round(middle["converted, jit"] / middle["by hand, jit"], 3),
                "converted_over_torch": round(middle["converted"] / middle["torch"], 3),
                "converted_jit_over_torch": round(middle["converted, jit"] / middle["torch"], 3),
            }
            print(name, json.dumps(rows[name]))
    RESULTS.write_text(json.dumps({"rounds": options.rounds, "allowed": ALLOWED, "runs": rows}, indent=1) + "\n")
    slow = [
        name
        for name, row in rows.items()
        if max(row["converted_over_hand"], row["converted_jit_over_hand_jit"]) > ALLOWED
    ]
    sys.exit(1 if slow else 0)


def write_scripts(folder: Path, name: str) -> dict[str, Path]:
    x, y, batch = DATA[name]
    source = folder / "torch"
    source.mkdir(parents=True)
    (source / "train.py").write_text(fill(TORCH, x, y, batch, TORCH_NETS[name]))
    scripts = {"torch": source / "train.py"}
    for kind, jit in (("by hand", ""), ("by hand, jit", "@ms.jit\n")):
        scripts[kind] = folder / ("hand_jit.py" if jit else "hand.py")
        scripts[kind].write_text(fill(HAND, x, y, batch, HAND_NETS[name]).replace("JIT\n", jit))
    for kind, jit in (("converted", False), ("converted, jit", True)):
        result = convert_project(source, folder / f"converted{jit}", settings=Settings(jit=jit))
        assert not [each for each in result.findings if each.severity == "error"], result.findings
        scripts[kind] = folder / f"converted{jit}" / "train.py"
    return scripts


def fill(text: str, x: str, y: str, batch: str, net: str) -> str:
    return text.replace("(X)", f"({x})").replace("(Y)", f"({y})").replace("BATCH", batch).replace("NET", net)


def run(script: Path) -> tuple[float, float]:
    """Milliseconds a step: of the processor, and on the wall."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOG_v": "4", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    ran = subprocess.run([sys.executable, script], cwd=script.parent, env=environment, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{script}: {ran.stderr[-2000:]}")
    _, cpu, wall, _ = ran.stdout.split()
    return float(cpu), float(wall)


if __name__ == "__main__":
    main()
