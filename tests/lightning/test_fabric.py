"""A loop on lightning.Fabric trains as the same loop on plain torch does, and runs without both."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from mindferry import convert_source

LOOP = """\
import sys
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
{imports}

def main(folder):
    torch.manual_seed(0)
    x = torch.linspace(-2, 2, 96).sin().reshape(24, 4)
    data = TensorDataset(x, x.sum(1, keepdim=True) ** 2)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    for index, parameter in enumerate(model.parameters()):
        values = torch.linspace(-1, 1, parameter.numel()).cos() * (index + 1) / 4
        parameter.data.copy_(values.reshape(parameter.shape))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    loader = DataLoader(data, batch_size=8)
{setup}
    for epoch in range(2):
        for a, b in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(a), b)
            {backward}
            {clip}
            optimizer.step()
            print(round(loss.item(), 4))
{after}

if __name__ == "__main__":
    main(sys.argv[1])
"""
PLAIN = LOOP.format(
    imports="",
    setup="",
    backward="loss.backward()",
    clip="nn.utils.clip_grad_norm_(model.parameters(), 0.5)",
    after="    print(7, 6)\n",
)
FABRIC = LOOP.format(
    imports="import lightning as L\n",
    setup="""\
    fabric = L.Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    model, optimizer = fabric.setup(model, optimizer)
    loader = fabric.setup_dataloaders(loader)
""",
    backward="fabric.backward(loss)",
    clip="fabric.clip_gradients(model, optimizer, max_norm=0.5)",
    after="""\
    fabric.save(folder + "/state.ckpt", {"model": model, "optimizer": optimizer, "epoch": 7})
    with torch.no_grad():
        model[0].weight.zero_()
    state = {"model": model, "epoch": 0}
    fabric.load(folder + "/state.ckpt", state)
    if fabric.is_global_zero:
        fabric.print(state["epoch"], len([each for each in model[0].weight.abs().sum(1) if each > 0]))
""",
)


def printed(text: str, folder: Path) -> list[float]:
    folder.mkdir()
    (folder / "main.py").write_text(text, "utf-8")
    words = [sys.executable, "main.py", str(folder)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return [float(each) for each in re.findall(r"-?\d+\.?\d*", done.stdout)]


def test_a_loop_on_fabric_trains_as_plain_torch_does(tmp_path: Path) -> None:
    made = convert_source(FABRIC)
    assert made.findings == ()
    assert "lightning" not in re.sub(r'""".*?"""', "", made.code, flags=re.DOTALL)
    theirs, ours = printed(PLAIN, tmp_path / "torch"), printed(made.code, tmp_path / "ms")
    assert len(theirs) == 8
    assert all(abs(a - b) < 2e-4 for a, b in zip(ours, theirs, strict=True)), (ours, theirs)
