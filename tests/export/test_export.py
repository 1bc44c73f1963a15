"""Exported models, reloaded in a fresh process: the cell's own numbers, the user's own permissions, nothing else left behind."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mindferry.cli.export import command
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.export.inputs import make_arrays
from mindferry.export.run import distance

NET = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, act='relu', pool=True):
        super().__init__()
        self.conv = nn.Sequential(*([nn.MaxPool2d(3, 2, 1)] if pool else []), nn.Conv2d(3, 8, 3, padding=1))
        self.bn = nn.BatchNorm2d(8)
        self.act = nn.GELU() if act == 'gelu' else nn.ReLU()
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.act(self.bn(self.conv(x)))
        x = self.drop(x.mean(dim=(2, 3)))
        return self.fc(x), x
"""
TOML = '[verify]\nmodel = "net:Net"\ninputs = ["float32[2,3,8,8]"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.mkdir()
    (source / "net.py").write_text(NET)
    (source / "mindferry.toml").write_text(TOML)
    convert_project(source, tmp_path / "net_ms")
    return tmp_path / "net_ms"


def files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )


def test_static_and_dynamic_mindir_equal_the_cell_and_leave_no_litter(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    before = files(project)
    result = CliRunner().invoke(command, [str(project), "--json"])
    assert result.exit_code == 0, result.output
    static, dynamic = json.loads(result.stdout)["files"]
    assert static["form"] == "mindir" and dynamic["form"] == "mindir with any batch size"
    assert static["inputs"] == dynamic["inputs"] == 3
    assert static["worst"] <= 1e-6 and dynamic["worst"] <= 1e-6
    assert sorted(set(files(project)) - set(before)) == [
        ".mindferry/export.json",
        "export/infer.py",
        "export/net.mindir",
        "export/net_dynamic.mindir",
    ]
    assert stat.S_IMODE((project / "export").stat().st_mode) & 0o055 == 0o055
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o644 == 0o644 for path in (project / "export").iterdir())
    assert files(here) == []

    ran = subprocess.run(
        [sys.executable, project / "export" / "infer.py", "--repeat", "3", "--save", here / "out.npz"],
        cwd=here,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "ms a call, the median of 3" in ran.stdout
    assert "output 0: float32 [2, 5]" in ran.stdout and "output 1: float32 [2, 8]" in ran.stdout
    assert {name: array.shape for name, array in np.load(here / "out.npz").items()} == {
        "arr_0": (2, 5),
        "arr_1": (2, 8),
    }


@pytest.mark.slow
def test_onnx_is_checked_in_onnxruntime_and_what_the_exporter_lacks_is_said(project: Path) -> None:
    pytest.importorskip("onnxruntime")
    plain = CliRunner().invoke(
        command, [str(project), "--model", "net:Net(pool=False)", "--batch", "static", "--onnx", "--json"]
    )
    assert plain.exit_code == 0, plain.output
    onnx = json.loads(plain.stdout)["files"][1]
    assert onnx["path"].endswith("net.onnx") and 0 < onnx["worst"] <= 1e-4
    gelu = CliRunner().invoke(
        command, [str(project), "--model", "net:Net(act='gelu', pool=False)", "--batch", "static", "--onnx"]
    )
    assert gelu.exit_code == 0, gelu.output
    assert "no onnx: MindSpore's ONNX exporter has no Erf" in gelu.stdout


@pytest.mark.slow
def test_an_encrypted_model_needs_its_key(project: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(os.urandom(16))
    result = CliRunner().invoke(command, [str(project), "--batch", "static", "--enc-key", str(key)])
    assert result.exit_code == 0, result.output
    script = [sys.executable, project / "export" / "infer.py", "--repeat", "1"]
    assert subprocess.run([*script, "--key", key], cwd=tmp_path, capture_output=True).returncode == 0
    (tmp_path / "wrong").write_bytes(os.urandom(16))
    assert subprocess.run([*script, "--key", tmp_path / "wrong"], cwd=tmp_path, capture_output=True).returncode != 0


@pytest.mark.slow
def test_the_weights_of_a_torch_file_are_in_the_export(project: Path, tmp_path: Path) -> None:
    import torch

    sys.path.insert(0, str(tmp_path / "source"))
    try:
        from net import Net
    finally:
        sys.path.pop(0)
        sys.modules.pop("net", None)
    torch.manual_seed(3)
    net = Net().eval()
    torch.save(net.state_dict(), tmp_path / "net.pth")
    np.save(tmp_path / "x.npy", make_arrays(["float32[2,3,8,8]"], 7)[0])
    result = CliRunner().invoke(command, [str(project), "--batch", "static", "--weights", str(tmp_path / "net.pth")])
    assert result.exit_code == 0, result.output
    subprocess.run(
        [sys.executable, project / "export" / "infer.py", "x.npy", "--save", "out.npz"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    with torch.no_grad():
        expected = net(torch.from_numpy(np.load(tmp_path / "x.npy")))[0].numpy()
    assert expected.std() > 1e-3
    assert np.abs(np.load(tmp_path / "out.npz")["arr_0"] - expected).max() <= 1e-5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", ""], "which model?"),
        (["--model", "net:Net"], "which input?"),
        (["--model", "net:Net", "--input", "float32[1]", "--weights", "none.ckpt"], "no weights file none.ckpt"),
        (["--model", "net:Net", "--input", "x=float32[1]"], "by position"),
        (["--model", "net:Net", "--input", "elephant"], "is no input"),
        (["--model", "net:Net", "--input", "float32[1]", "--enc-key", "none"], "cannot read the key"),
        (["--model", "net:Net", "--input", "float32[1]", "--enc-key", "/proc/version"], "MindSpore takes 16, 24 or 32"),
    ],
)
def test_bad_input_is_a_sentence(tmp_path: Path, options: list[str], message: str) -> None:
    with pytest.raises(MindferryError, match=message.replace("?", r"\?")):
        CliRunner().invoke(command, [str(tmp_path), *options], catch_exceptions=False, standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def test_the_distance_sees_a_number_that_is_none() -> None:
    one = np.array([1.0, 2.0, np.nan])
    assert distance(one, one) == 0.0
    assert distance(one, np.array([1.0, 2.0, 3.0])) == float("inf")
    assert distance(np.array([1.0, 4.0]), np.array([1.0, 3.0])) == 0.25
