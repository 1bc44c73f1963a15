"""A call of torch's that is left in lines that became a function raises its finding's text, not a NameError."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mindferry import convert_source

LOOP = """import torch
{imports}
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def run():
    for step in range(2):
        x = torch.ones(4, 3)
        h = net(x)
        {left}
        loss = h.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
LEFT = [
    ("", "g = torch.autograd.grad(h.sum(), dict(net.named_parameters()).values(), create_graph=True)"),
    ("import torch.autograd as ag", "g = ag.grad(h.sum(), dict(net.named_parameters()).values(), create_graph=True)"),
    ("", "h = torch.ops.mine.scale(h, 2.0)"),
    ("from torch import ops as kernels", "h = kernels.mine.scale(h, 2.0)"),
]


@pytest.mark.parametrize(("imports", "left"), LEFT)
def test_what_is_left_is_bound(tmp_path: Path, imports: str, left: str) -> None:
    conversion = convert_source(LOOP.format(imports=imports, left=left))
    assert any(each.severity == "error" and each.line == 13 for each in conversion.findings)
    (tmp_path / "ours.py").write_text(conversion.code + "\n\nrun()\n")
    # in a process of its own: what is computed after a step that failed is not to be trusted
    run = subprocess.run([sys.executable, "ours.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert "NotImplementedError" in run.stderr and ("no counterpart" in run.stderr or "no rule" in run.stderr)
