"""A project whose folders have helpers each: what one of them makes, another one knows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry import convert_project

ADJACENCY = """
import torch


def adjacency(n):
    index = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 2]])
    return torch.sparse_coo_tensor(index, torch.tensor([0.1, 0.2, 0.3, 0.4]), (n, n))
"""
LAYER = """
import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2, bias=False)
        nn.init.constant_(self.fc.weight, 0.5)

    def forward(self, x, adj):
        return torch.spmm(adj, self.fc(x))
"""
SCRIPT = """
import torch
from layers.gcn import GCN
from utils import process

adj = process.adjacency(3)
net = GCN()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.arange(6.0).view(3, 2)
for _ in range(3):
    loss = net(x, adj).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("loss", loss.item())
"""


def losses(folder: Path) -> list[float]:
    done = subprocess.run([sys.executable, "execute.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(each) for each in re.findall(r"loss (\S+)", done.stdout)]


def test_a_sparse_matrix_of_one_folder_is_one_in_another(tmp_path: Path) -> None:
    project, output = tmp_path / "project", tmp_path / "output"
    for name, text in {"utils/process": ADJACENCY, "layers/gcn": LAYER, "execute": SCRIPT}.items():
        path = project / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if "/" in name:
            path.with_name("__init__.py").write_text("")
    assert convert_project(project, output).findings == ()
    assert {each.parent.name for each in output.rglob("ms_compat.py")} == {"output", "utils", "layers"}
    theirs, ours = losses(project), losses(output)
    assert len(theirs) == 3 and theirs[0] > theirs[-1]
    assert all(abs(one - other) < 1e-5 for one, other in zip(theirs, ours, strict=True))
    alone = "import layers.ms_compat as helpers; print(helpers.__name__)"
    (output / "ms_compat.py").unlink()  # the package by itself
    done = subprocess.run([sys.executable, "-c", alone], cwd=output, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "layers.ms_compat"


NETS = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Dropout2d(0.3), nn.InstanceNorm2d(4, affine=True))

    def forward(self, x):
        return self.body(x)
"""
COUNTS = """
from torch import nn


def counts(net):
    return sum(isinstance(each, nn.Dropout2d) for each in net.modules()), [
        each.eps for each in net.modules() if type(each) is nn.InstanceNorm2d
    ]
"""
SHOW = """
from misc.counts import counts
from nets.net import Net

print(counts(Net()))
"""
ON_PATH = "import os, sys\n\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'src'))"


@pytest.mark.parametrize("script", ["show.py", "src/show.py", "tools/show.py"])
def test_classes_of_two_packages_are_the_same_wherever_the_script_stands(script: str, tmp_path: Path) -> None:
    """The script itself uses no torch: its folder has helpers all the same, for those of the packages to be one."""
    project, output = tmp_path / "project", tmp_path / "output"
    home = "." if script == "show.py" else "src"
    start = ON_PATH if script.startswith("tools") else ""
    for name, text in {f"{home}/nets/net.py": NETS, f"{home}/misc/counts.py": COUNTS, script: start + SHOW}.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if path.stem != "show":
            path.with_name("__init__.py").write_text("")
    assert convert_project(project, output).findings == ()
    for folder in (project, output):
        words = [sys.executable, script]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        assert done.stdout.strip() == "(1, [1e-05])", done.stderr[-2000:]
