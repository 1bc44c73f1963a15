"""A project whose folders have helpers each: what one of them makes, another one knows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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
