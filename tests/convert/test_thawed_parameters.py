"""Parameters that are frozen when their optimizer is made, and thawed later, are trained from then on, as with torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mindferry
from mindferry.convert import convert_project

SCRIPT = """import json

import numpy as np
import torch
from torch import nn
from switches import Switch, set_gradients, thaw


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.norm, self.head = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.norm(self.body(x))))


def made():
    numbers, net = np.random.default_rng(5), Net()
    for p in net.parameters():
        p.data = torch.from_numpy(numbers.normal(0, 0.5, tuple(p.shape)).astype("float32"))
    return net


x = torch.from_numpy(np.random.default_rng(6).normal(size=(8, 3)).astype("float32"))
found = {{}}
net = made()
{freeze}
opt = {optimizer}
losses = []
for step in range(6):
    if step == 3:
        {thaw}
    loss = (net(x) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append([loss.item(), net.body.weight.sum().item(), net.head.bias.sum().item()])
json.dump(losses, open("losses.json", "w"))
"""
SWITCHES = """def thaw(net):
    for name, p in net.named_parameters():
        if name.startswith("body"):
            p.requires_grad = True


def set_gradients(nets, requires_grad):
    for net in nets:
        for param in net.parameters():
            param.requires_grad = requires_grad


class Switch:
    def __init__(self, model):
        self.model = model

    def on_epoch(self, epoch):
        self.model.body.requires_grad_(epoch >= 3)
"""
FROZEN = "for p in net.body.parameters():\n    p.requires_grad = False"
ADAM = "torch.optim.Adam(net.parameters(), lr=0.1)"
WAYS = {
    "in the loop": (FROZEN, ADAM, "for p in net.body.parameters():\n            p.requires_grad = True"),
    "of the network": ("net.body.requires_grad_(False)", ADAM, "net.requires_grad_(True)"),
    "another file's": (FROZEN, "torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)", "thaw(net)"),
    "a flag": (
        "set_gradients([net.body, net.norm], False)",
        "torch.optim.AdamW(params=net.parameters(), lr=0.05, weight_decay=0.1)",
        "set_gradients([net.body, net.norm], True)",
    ),
    "a callback": ("switch = Switch(net)\nswitch.on_epoch(0)", "torch.optim.RMSprop(net.parameters(), lr=0.01)", "switch.on_epoch(step)"),
    "groups": (
        FROZEN,
        'torch.optim.SGD([{"params": net.body.parameters(), "lr": 0.01}, {"params": net.head.parameters()}], lr=0.1)',
        "net.body.weight.requires_grad = True",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_what_is_thawed_is_trained(way: str, tmp_path: Path) -> None:
    freeze, optimizer, thaw = WAYS[way]
    (tmp_path / "source").mkdir()
    (tmp_path / "source/switches.py").write_text(SWITCHES)
    (tmp_path / "source/main.py").write_text(SCRIPT.format(freeze=freeze, optimizer=optimizer, thaw=thaw))
    result = convert_project(tmp_path / "source", tmp_path / "out")
    assert not [each for each in result.findings if each.severity == "error"]
    for name in ("source", "out"):
        subprocess.run([sys.executable, "main.py"], cwd=tmp_path / name, check=True, timeout=600)
    theirs, ours = (json.loads((tmp_path / name / "losses.json").read_text()) for name in ("source", "out"))
    assert theirs[2][1] == theirs[0][1] != theirs[5][1]  # the body was frozen, and then moved
    for step, expected in zip(ours, theirs, strict=True):
        assert step == pytest.approx(expected, abs=2e-4)


HEAD = "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\n"
BEFORE = "for p in net.parameters():\n    p.requires_grad = False\nfor p in net[1].parameters():\n    p.requires_grad = True\n"


@pytest.mark.parametrize(
    "code",
    [
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n",
        f"{BEFORE}opt = torch.optim.SGD(net.parameters(), lr=0.1)\n",
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nx = torch.ones(2)\nx.requires_grad_()\nx.requires_grad = True\n",
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet.requires_grad_(False)\n",
    ],
)
def test_what_is_never_thawed_behind_it_has_the_native_list(code: str) -> None:
    assert "net.trainable_params()" in mindferry.convert_source(HEAD + code).code
