"""Containers of layers keep what a list of torch's can do, in whichever file the project does it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from mindferry.convert import convert_project

MODELS = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 3)])

    def forward(self, x):
        x = self.features(x)
        return [head(x) for head in self.heads]


def filled(net):
    for number, p in enumerate(net.parameters()):
        p.data = torch.cos(torch.arange(float(p.numel())) + number).view(p.shape)
    return net
"""
SURGERY = """from torch import nn
from models import filled


def cut(net, x):
    part = net.features[:2]
    return part(x), len(part), net.heads[1:][0](net.features(x))


def grow(net):
    net.features.insert(2, nn.Sigmoid())
    net.features.extend([nn.Tanh()])
    last = net.heads.pop(0)
    return type(last).__name__


def join(x):
    both = nn.Sequential(nn.ReLU(), nn.Sigmoid()) + nn.Sequential(nn.Tanh())
    held = filled(nn.Sequential(nn.Linear(3, 3), nn.ReLU()))
    held.insert(0, nn.Sigmoid())
    first = held.pop(2)
    several = nn.ModuleList([nn.ReLU()])
    several += [nn.Tanh()]
    several.extend([nn.Sigmoid()])
    gone = several.pop(0)
    more = several + [nn.ReLU()]
    names = [type(each).__name__ for each in (first, gone, *more)]
    return both(x), held(x), names, len(several)
"""
MAIN = """import json

import torch
from models import Net, filled
from surgery import cut, grow, join

net = filled(Net())
x = torch.linspace(-1, 1, 6).view(2, 3)
found = [list(cut(net, x)), grow(net), net(x), list(net.state_dict()), list(join(x))]


def plain(value):
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value.tolist() if torch.is_tensor(value) else value


print(json.dumps(plain(found)))
"""


def test_what_another_file_does_with_containers_gives_what_torch_gives(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name, text in {"models": MODELS, "surgery": SURGERY, "main": MAIN}.items():
        (tmp_path / "source" / f"{name}.py").write_text(text)
    assert convert_project(tmp_path / "source", tmp_path / "out").findings == ()
    theirs, ours = (
        json.loads(
            subprocess.run(
                [sys.executable, "main.py"],
                cwd=tmp_path / name,
                capture_output=True,
                text=True,
                check=True,
                timeout=600,
            ).stdout
        )
        for name in ("source", "out")
    )
    assert _rounded(ours) == _rounded(theirs)


def _rounded(value: object) -> object:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value
