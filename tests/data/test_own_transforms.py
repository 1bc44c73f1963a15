"""Transforms of the project's own behind ToTensor, in whatever form: they get tensors, and compute what torch does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

from mindferry import convert_source
from mindferry.convert import convert_project

OWN = """import torch


class Shift(object):
    def __init__(self, by):
        self.by = by

    def __call__(self, tensor):
        return tensor + torch.ones(tensor.size()) * self.by


def scale(x):
    return x.mul(255).clamp(20, 200)
"""
SCRIPT = """import json

import numpy as np
import torch
from torchvision import transforms

from own import Shift, scale

pipeline = transforms.Compose([
    transforms.ToTensor(),
    Shift(0.25),  # a class of another file
    transforms.Lambda(scale),
    transforms.Lambda(lambda x: torch.flatten(x)),
    lambda t: t.div(2.0).unsqueeze(0),
])
image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5
print(json.dumps([list(pipeline(image).shape), pipeline(image).reshape(-1).tolist()]))
"""


def test_classes_functions_and_lambdas_compute_what_they_do_in_torch(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/own.py").write_text(OWN)
    (tmp_path / "project/script.py").write_text(SCRIPT)
    record = convert_project(tmp_path / "project", tmp_path / "out")
    assert not [each for file in record.files for each in file.findings if each.severity == "error"]
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path / "out", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    shape, values = json.loads(done.stdout.splitlines()[-1])
    image = torch.from_numpy(np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5).permute(2, 0, 1).float() / 255
    wanted = ((image + 0.25).mul(255).clamp(20, 200).flatten() / 2).unsqueeze(0)
    assert shape == list(wanted.shape)
    np.testing.assert_allclose(values, wanted.flatten().numpy(), rtol=1e-5)


def test_what_stands_before_totensor_gets_its_image() -> None:
    code = (
        "import numpy as np\nfrom torchvision import transforms\n\n"
        "t = transforms.Compose([transforms.Lambda(lambda x: np.asarray(x)), transforms.ToTensor()])\n"
    )
    assert "on_tensors" not in convert_source(code).main
