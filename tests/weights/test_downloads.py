"""Weights that torch.hub downloads: the converted file is found by the address's name, and what is missing is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mindferry.convert import convert_project

SCRIPT = """
import sys
import torch
from torch import nn
from torch.hub import load_state_dict_from_url

ADDRESS = "https://a.b.test/some/net-0a1b.pth.tar"


def net(pretrained=True):
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    if pretrained:
        checkpoint = load_state_dict_from_url(ADDRESS, model_dir=sys.argv[1], map_location="cpu", progress=False)
        model.load_state_dict(checkpoint["model"])
        print("epoch", checkpoint["epoch"])
    return model.eval()


print([round(each, 4) for each in net()(torch.ones(1, 3)).reshape(-1).tolist()])
"""

FETCHING = """
import os
import sys
import torch
from torch.hub import download_url_to_file
from torchvision.datasets.utils import download_url

source = "file://" + os.path.abspath(__file__)
download_url(source, "kept", "a.py")
open("kept/a.py", "a").write("# changed")
download_url(source, "kept", "a.py")
torch.hub.download_url_to_file(source, "b.py", progress=False)
print(open("kept/a.py").read().endswith("# changed"), open("b.py").read() == open(__file__).read())
try:
    download_url(source, "kept", "c.py", md5="0" * 32)
except RuntimeError as error:
    print(error)
try:
    download_url_to_file(source, "d.py", hash_prefix="zz")
except RuntimeError as error:
    print("invalid hash value" in str(error))
"""


def test_files_are_fetched_once_and_checked(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "fetch.py").write_text(FETCHING)
    assert not convert_project(tmp_path / "source", tmp_path / "output").findings
    ran = subprocess.run([sys.executable, "fetch.py"], cwd=tmp_path / "output", capture_output=True, text=True)
    assert ran.stdout.splitlines() == ["True True", "File not found or corrupted.", "True"], ran.stderr


@pytest.mark.parametrize("is_there", [True, False])
def test_a_download_is_read_from_its_converted_file(is_there: bool, tmp_path: Path) -> None:
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    model[1].running_mean += 0.5
    torch.save({"model": model.state_dict(), "epoch": 7}, tmp_path / "net-0a1b.pth.tar")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "net.py").write_text(SCRIPT)
    result = convert_project(tmp_path / "source", tmp_path / "output")
    assert {each.severity for each in result.findings} == {"warning"}
    if is_there:
        target = tmp_path / "net-0a1b.ckpt"
        words = ["weights", "convert", "--whole", str(tmp_path / "net-0a1b.pth.tar"), "-o", str(target)]
        subprocess.run([sys.executable, "-m", "mindferry", *words], check=True, capture_output=True)
    ran = subprocess.run(
        [sys.executable, "net.py", str(tmp_path)], cwd=tmp_path / "output", capture_output=True, text=True
    )
    if not is_there:
        assert "FileNotFoundError" in ran.stderr and "mindferry weights convert --whole net-0a1b.pth.tar" in ran.stderr
        return
    with torch.no_grad():
        expected = [round(each, 4) for each in model.eval()(torch.ones(1, 3)).reshape(-1).tolist()]
    assert ran.stdout.splitlines() == ["epoch 7", str(expected)], ran.stderr
