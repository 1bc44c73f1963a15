"""trainer.py around the network that a project makes: it trains as the same loop in torch does, and goes on from where it stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings
from mindferry.errors import MindferryError

NET = """
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(self.norm(self.hidden(x)).relu())
"""
USE = """
import mindspore as ms
import numpy as np
from mindspore import nn, ops
from net import Net
from trainer import Trainer

data = np.load("data.npz")
network = Net()
ms.load_param_into_net(network, ms.load_checkpoint("first.ckpt"))
optimizer = nn.SGD(network.trainable_params(), learning_rate=0.1)
batches = [(ms.Tensor(x), ms.Tensor(y)) for x, y in zip(data["x"], data["y"])]

def size(out, y):
    return (out * out).mean()

losses = {"cross": nn.CrossEntropyLoss(), "size": size}
options = {"weights": {"size": 0.5}, "loss_scale": SCALE, "metrics": {"accuracy": nn.Accuracy()}, "jit": JIT}
trainer = Trainer(network, optimizer, losses, **options)
print("losses", *trainer.train_epoch(batches, 0))
first = trainer.evaluate(batches)
trainer.fit(lambda epoch: batches, lambda: batches, epochs=2)
print("best", first, trainer.best, trainer.skipped)
right = sum(int((network(x).asnumpy().argmax(1) == y.asnumpy()).sum()) for x, y in batches) / 80
assert abs(trainer.scores["accuracy"] - right) < 1e-6
again = Net()
other = Trainer(again, nn.SGD(again.trainable_params(), learning_rate=0.1), losses, **options)
assert other.resume() == 1 and other.first_epoch == 2
assert all(np.array_equal(a.asnumpy(), b.asnumpy()) for a, b in zip(again.get_parameters(), network.get_parameters()))
if SCALE:
    bad = ms.Tensor(np.full((8, 6), 3e38, np.float32))
    before, scale = network.out.weight.asnumpy().copy(), float(trainer.scaler.scale_value.asnumpy())
    network.set_train()
    trainer.step(bad, batches[0][1])
    assert trainer.skipped == 1 and np.array_equal(before, network.out.weight.asnumpy())
    assert float(trainer.scaler.scale_value.asnumpy()) == scale / 2
"""


def project(folder: Path) -> Path:
    source = folder / "source"
    source.mkdir()
    (source / "net.py").write_text(NET)
    (source / "mindferry.toml").write_text('[verify]\nmodel = "net:Net"\ninputs = ["float32[2,6]"]\n')
    convert_project(source, folder / "out", settings=Settings(trainer=True))
    return folder / "out"


def test_the_trainer_names_the_projects_own_model_and_compiles(tmp_path: Path) -> None:
    text = (project(tmp_path) / "trainer.py").read_text()
    compile(text, "trainer.py", "exec")
    assert "from net import Net as make_model" in text
    assert "torch" not in text


def test_the_trainer_calls_the_factory_as_the_project_does(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "net.py").write_text(
        NET.replace("self):", "self, classes):") + "\n\ndef small(classes=2):\n    return Net(classes)\n"
    )
    (source / "train.py").write_text(
        "from net import small\n\nmodel = small(classes=7)\n\n"
        "def step(x, opt):\n    loss = model(x).mean()\n    loss.backward()\n    opt.step()\n"
    )
    convert_project(source, tmp_path / "out", settings=Settings(trainer=True))
    text = (tmp_path / "out" / "trainer.py").read_text()
    assert "from net import small as make_model" in text and "network = make_model(classes=7)" in text
    assert "value_and_grad" in (tmp_path / "out" / "train.py").read_text() or "backward" not in text


def test_a_trainer_of_the_projects_own_is_not_written_over(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "trainer.py").write_text(NET)
    with pytest.raises(MindferryError, match=r"trainer.py of its own"):
        convert_project(source, tmp_path / "out", settings=Settings(trainer=True))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "is_compiled"), [(None, True), (1024, False)])
def test_it_trains_as_the_same_loop_does_in_torch(tmp_path: Path, scale: int | None, is_compiled: bool) -> None:
    import torch

    folder = project(tmp_path)
    sys.path.insert(0, str(tmp_path / "source"))
    try:
        from net import Net
    finally:
        sys.path.pop(0)
        sys.modules.pop("net", None)
    torch.manual_seed(2)
    net, random = Net(), np.random.RandomState(0)
    x, y = random.randn(10, 8, 6).astype(np.float32), random.randint(0, 2, (10, 8)).astype(np.int32)
    np.savez(folder / "data.npz", x=x, y=y)
    torch.save(net.state_dict(), tmp_path / "first.pth")
    command = [
        sys.executable,
        "-m",
        "mindferry",
        "weights",
        "convert",
        tmp_path / "first.pth",
        "-o",
        folder / "first.ckpt",
        "--project",
        folder,
    ]
    subprocess.run(command, check=True, capture_output=True)
    optimizer, expected = torch.optim.SGD(net.parameters(), lr=0.1), []
    for inputs, labels in zip(x, y, strict=True):
        out = net(torch.from_numpy(inputs))
        loss = torch.nn.functional.cross_entropy(out, torch.from_numpy(labels).long()) + 0.5 * (out * out).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        expected.append(loss.item())
    (folder / "use.py").write_text(USE.replace("SCALE", str(scale)).replace("JIT", str(is_compiled)))
    ran = subprocess.run(
        [sys.executable, "use.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    lines = {
        line.split()[0]: [float(part) for part in line.split()[1:]]
        for line in ran.stdout.splitlines()
        if line.startswith(("losses", "best"))
    }
    assert lines["losses"] == pytest.approx(expected, rel=1e-4)
    first, best, skipped = lines["best"]
    assert best < first and skipped == 0
    assert (folder / "best.ckpt").is_file() and "epoch 1: train" in ran.stdout
