"""SummaryWriter writes MindSpore's event files where TensorBoard's were asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from mindferry import convert_source

SOURCE = """
from torch.utils.tensorboard import SummaryWriter
import torch

with SummaryWriter("events") as writer, SummaryWriter("runs/validation") as other:
    for step in range(3):
        writer.add_scalar("train/loss", 1.0 / (step + 1), step)
        writer.add_scalar("train/tensor", torch.tensor(0.5), step)
        writer.add_histogram("weights", torch.ones(4), step)
        writer.add_image("picture", torch.ones(3, 8, 8), step)
        other.add_scalar("loss", 2.0, step)
    writer.add_text("note", "is not kept")
"""


def test_values_are_written(tmp_path: Path) -> None:
    conversion = convert_source(SOURCE)
    assert [each for each in conversion.findings if each.severity == "error"] == []
    (tmp_path / "script.py").write_text(conversion.code)
    subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        check=True,
        timeout=600,
        env={"GLOG_v": "4", "PATH": "/usr/bin:/bin"},
    )
    (events,) = (tmp_path / "events").iterdir()
    content = events.read_bytes()
    assert all(tag in content for tag in (b"train/loss", b"train/tensor", b"weights", b"picture", b"validation/loss"))


def test_tensorboardx_is_the_same_writer(tmp_path: Path) -> None:
    source = SOURCE.replace("from torch.utils.tensorboard import", "from tensorboardX import").replace(
        "    writer.add_text", "    writer.export_scalars_to_json('all.json')\n    writer.add_text"
    )
    conversion = convert_source(source)
    assert conversion.findings == () and "tensorboardX import" not in conversion.code
    (tmp_path / "script.py").write_text(conversion.code)
    environment = {"GLOG_v": "4", "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True, timeout=600, env=environment)
    kept = json.loads((tmp_path / "all.json").read_text())
    assert [row[1:] for row in kept["events/train/loss"]] == [[0, 1.0], [1, 0.5], [2, 1 / 3]]
