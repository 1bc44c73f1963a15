"""What an untyped argument's `weight` is given reaches the layer, whatever MindSpore calls the parameter there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.convert import convert_project

SCRIPT = """import json

import torch
from torch import nn


def whole(m):
    m.weight.data = torch.full_like(m.weight, 2.0)


def less(m):
    m.weight.data -= 0.5 * torch.ones_like(m.weight)


def new(m):
    m.weight = nn.Parameter(m.weight.detach() * 3)


def new_of_many(ms, which):
    ms[torch.argmax(which).item()].weight = nn.Parameter(ms[torch.argmax(which).item()].weight.detach() + 1)


def statistics(m):
    m.running_mean = torch.full((2,), 0.5)
    m.running_var = torch.tensor([4.0, 9.0])


def kind(ms, which):
    return type(ms[torch.argmax(which).item()]).__name__, nn.ModuleList([nn.ReLU(), nn.Linear(2, 2)])[-1].__class__.__name__


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(1, 2, 3), nn.Conv1d(1, 2, 3)])
        for conv in self.convs:
            nn.init.constant_(conv.weight, 0.25)

    def forward(self, which):
        return self.convs[torch.argmax(which).item()].weight.squeeze(1) * 2


layers = {
    "linear": (nn.Linear(3, 2, bias=False), torch.arange(6.0).reshape(2, 3)),
    "conv": (nn.Conv2d(1, 2, 2, bias=False), torch.arange(9.0).reshape(1, 1, 3, 3)),
    "norm": (nn.BatchNorm2d(2).eval(), torch.arange(8.0).reshape(1, 2, 2, 2)),
    "rows": (nn.LayerNorm(3), torch.tensor([[1.0, 2.0, 4.0]])),
    "group": (nn.GroupNorm(1, 2), torch.arange(4.0).reshape(1, 2, 2)),
    "table": (nn.Embedding(3, 2), torch.tensor([2, 0])),
}
found = {}
for name, (layer, x) in layers.items():
    for change in (whole, less, new, lambda m: new_of_many([m, m], torch.tensor([0, 1])), statistics):
        if change is not statistics or name == "norm":
            change(layer)
        found.setdefault(name, []).append([layer.weight.detach().flatten().tolist(), layer(x).detach().flatten().tolist()])
found["kinds"] = kind([nn.ReLU(), nn.Linear(2, 2)], torch.tensor([0.0, 1.0]))
found["wide"] = Wide()(torch.tensor([0.0, 1.0])).tolist()
json.dump(found, open("found.json", "w"))
"""


def test_weights_that_are_set_reach_every_kind_of_layer(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/main.py").write_text(SCRIPT)
    assert convert_project(tmp_path / "source", tmp_path / "out").findings == ()
    for name in ("source", "out"):
        subprocess.run([sys.executable, "main.py"], cwd=tmp_path / name, check=True, timeout=600)
    theirs, ours = (json.loads((tmp_path / name / "found.json").read_text()) for name in ("source", "out"))
    assert theirs["kinds"] == ours["kinds"] == ["Linear", "Linear"] and theirs["wide"] == ours["wide"]
    for name in ("linear", "conv", "norm", "rows", "group", "table"):
        for (weight, output), (own_weight, own_output) in zip(theirs[name], ours[name], strict=True):
            assert own_weight == weight and own_output == pytest.approx(output, abs=1e-4), name
