"""A command that uses a trained network: its checkpoint is carried along, and what it prints is compared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from click.testing import CliRunner

from mindferry.artifacts import PlainRun, WeightsReport, load
from mindferry.cli import cli

PREDICT = """import argparse
import os

import numpy as np
import torch
from torch import nn


def make():
    return nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", default="runs/best.pth")
    args = parser.parse_args()
    net = make()
    if os.path.isfile(args.weights):
        saved = torch.load(args.weights, map_location="cpu", weights_only=False)
        net.load_state_dict(saved["model"])
        print("epoch", saved["epoch"], "of", saved["args"].epochs)
    net.eval()
    samples = np.load("samples.npz")["x"]
    with torch.no_grad():
        for number, x in enumerate(samples):
            odds = net(torch.from_numpy(x)[None]).softmax(-1)[0]
            print(f"sample {number}: class {odds.argmax().item()} {odds.max().item():.4f}")


if __name__ == "__main__":
    main()
"""


def test_a_network_that_is_only_used_behaves_like_the_original(tmp_path: Path) -> None:
    source, output = tmp_path / "project", tmp_path / "out"
    (source / "runs").mkdir(parents=True)
    (source / "predict.py").write_text(PREDICT)
    np.savez(source / "samples.npz", x=np.random.default_rng(3).normal(size=(5, 2, 8)).astype("float32"))
    made = (
        "import argparse, torch\nfrom predict import make\ntorch.manual_seed(5)\nnet = make()\nnet(torch.randn(9, 2, 8))\n"
        "args = argparse.Namespace(epochs=9)\n"
        "torch.save({'model': net.state_dict(), 'epoch': 7, 'args': args}, 'runs/best.pth')\n"
    )
    subprocess.run([sys.executable, "-c", made], cwd=source, check=True)
    done = CliRunner().invoke(cli, ["migrate", str(source), "-o", str(output), "--", "python", "predict.py"])
    assert done.exit_code == 0 and "behaves like the original" in done.output, done.output
    plain, weights = load(PlainRun, output, "plain"), load(WeightsReport, output, "weights")
    assert plain.printed == 17 and not plain.losses and "epoch 7 of 9" in plain.output
    assert weights.output == str(output / "runs/best.ckpt") and not (output / "samples.ckpt").exists()
    assert {"model.0.weight", "model.1.running_var"} <= {entry.source for entry in weights.entries}
    assert torch.load(source / "runs/best.pth", weights_only=False)["epoch"] == 7  # the user's own is left alone
