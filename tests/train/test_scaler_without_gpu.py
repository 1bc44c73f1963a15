"""A scaler for a GPU is off where there is none, in torch and here: the losses that both give to backward() are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.config import Train
from mindferry.convert import convert_project
from mindferry.train import train_side_by_side

SCRIPT = """
import torch
from torch import nn
torch.manual_seed(1)
kind = "cpu"
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = SCALER
for step in range(4):
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    loss = (net(x) ** 2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
"""


@pytest.mark.parametrize(
    "made", ["torch.cuda.amp.GradScaler()", "torch.amp.GradScaler('cuda')", "torch.amp.GradScaler(kind)"]
)
def test_a_scaler_scales_where_torchs_does(made: str, tmp_path: Path) -> None:
    source, output = tmp_path / "source", tmp_path / "output"
    source.mkdir()
    (source / "train.py").write_text(SCRIPT.replace("SCALER", made))
    result = convert_project(source, output)
    assert [str(each) for each in result.findings if each.severity == "error"] == []
    curves = train_side_by_side(output, Train("train.py", (), 1000, 2e-5))
    assert curves.first_difference == ""
    assert len(curves.reference) == 4
