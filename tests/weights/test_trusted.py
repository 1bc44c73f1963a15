"""torch.load of whole networks where the script says which classes it trusts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.convert import convert_project

SCRIPT = """import os
import sys
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        self.rnn = nn.LSTM(2, 2)
        self.norm = nn.LayerNorm(2)
        self.table = nn.Embedding(4, 2)
        self.drop = nn.Dropout(0.1)
        layers = [nn.TransformerEncoderLayer(2, 1, 4, activation=each) for each in ("relu", "gelu")]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.norm(self.rnn(self.layers(self.body(x)))[0]) + self.table(torch.zeros(2).long())


class Evil:
    def __reduce__(self):
        return os.mkdir, ("made",)


net = Net().eval()
torch.save(net, "net.pt")
x = torch.ones(2, 3)
try:
    torch.load("net.pt")
except Exception as error:
    print("refused", type(error).__name__)
trusted = [Net, nn.Linear, nn.ReLU, nn.Sequential, nn.LSTM, nn.LayerNorm, nn.Embedding, nn.Dropout]
trusted += [nn.TransformerEncoderLayer, nn.MultiheadAttention, nn.functional.relu, nn.functional.gelu]
trusted += [nn.modules.linear.NonDynamicallyQuantizableLinear]
with torch.serialization.safe_globals(trusted):
    print("same", bool((torch.load("net.pt")(x) == net(x)).all()))
try:
    torch.load("net.pt")
except Exception as error:
    print("refused", type(error).__name__)
torch.serialization.add_safe_globals(trusted)
print("same", bool((torch.load("net.pt")(x) == net(x)).all()))
torch.save([Evil()], "evil.pt")
try:
    torch.load("evil.pt")
except Exception as error:
    print("refused", type(error).__name__)
print(os.path.exists("made"))
"""


def test_only_what_is_trusted_is_restored(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/go.py").write_text(SCRIPT)
    convert_project(tmp_path / "project", tmp_path / "out")
    environment = {**os.environ, "GLOG_v": "3"}
    printed = []
    for folder in ("project", "out"):
        done = subprocess.run(
            [sys.executable, "go.py"], cwd=tmp_path / folder, capture_output=True, text=True, env=environment
        )
        if done.returncode:
            pytest.fail(done.stderr[-2000:])
        printed.append(done.stdout)
    assert printed[1] == printed[0]
    assert printed[0].splitlines() == [
        "refused UnpicklingError",
        "same True",
        "refused UnpicklingError",
        "same True",
        "refused UnpicklingError",
        "False",
    ]
