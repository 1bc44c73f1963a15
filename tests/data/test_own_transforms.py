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


CHANGES = """import numpy as np
import torch
from torch import nn


def flip(x, y):
    return torch.flip(x, dims=(-1,)), y.flip(-1)


def brighten(sample, by=1.0):
    return {**sample, "x": sample["x"].clamp(0, 2).mul(by)}


class Noisy:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x + self.by * torch.arange(x.numel()).view_as(x)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return self.by.detach() * x.unsqueeze(0)


def from_arrays(x):
    return torch.from_numpy(np.ascontiguousarray(x[::-1])) * 2
"""
DATA_SETS = """import json
from functools import partial

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import changes
from changes import Noisy, Scale, brighten


class Pairs(Dataset):
    def __init__(self, change=None):
        self.x = np.linspace(-1, 3, 24, dtype=np.float32).reshape(4, 6)
        self.change = change

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.change(torch.from_numpy(self.x[index]), torch.tensor([index, index + 1]))


class Ones(Pairs):
    def __getitem__(self, index):
        return self.change(torch.from_numpy(self.x[index]))


class Samples(Pairs):
    def __getitem__(self, index):
        return self.change({"x": torch.as_tensor(self.x[index]), "name": str(index)})["x"]


class Arrays(Pairs):
    def __getitem__(self, index):
        return self.change(self.x[index])


sets = [
    Pairs(changes.flip),
    Ones(change=Noisy(0.5)),
    Ones(change=Scale()),
    Ones(lambda x: x.clamp(min=0.5)),
    Samples(change=partial(brighten, by=3.0)),
    Arrays(change=changes.from_arrays),
]
found = []
for number, each in enumerate(sets):
    for batch in DataLoader(each, batch_size=3, num_workers=2 if number < 2 else 0):
        parts = batch if isinstance(batch, (list, tuple)) else [batch]
        found.append([[list(part.shape), part.reshape(-1).tolist()] for part in parts])
print(json.dumps(found))
"""


def test_what_a_data_set_gets_to_change_its_samples_gets_tensors_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/changes.py").write_text(CHANGES)
    (tmp_path / "project/script.py").write_text(DATA_SETS)
    record = convert_project(tmp_path / "project", tmp_path / "out")
    assert not [each for file in record.files for each in file.findings if each.severity == "error"]
    found = []
    for folder in ("project", "out"):
        done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path / folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        found.append(json.loads(done.stdout.splitlines()[-1]))
    theirs, ours = found
    for one, other in zip(ours, theirs, strict=True):
        for (shape, values), (wanted, expected) in zip(one, other, strict=True):
            assert shape == wanted
            np.testing.assert_allclose(values, expected, rtol=1e-6)


CROPS = """import random

import torch
import torch.nn.functional as F

from jitter import jitter


def brightened(x, by):
    return x.clamp(0, 2) * by


class TwoCrops:
    def __init__(self, size):
        self.size = size

    def one(self, x):
        padded = F.pad(x[None], (2, 2), mode="reflect")[0]
        return brightened(padded[:, 1:1 + self.size], 2.0)

    def __call__(self, x):
        return self.one(x), x.flip(-1)


class Mixer:
    def mix(self, x, y):
        return torch.lerp(x, y, 0.25)

    def __call__(self, x):
        return jitter(x)


def one_hot(label):
    return F.one_hot(torch.arange(4), 4)[label].float()
"""
JITTER = """import torch


def jitter(x):
    return x.roll(1, 0) - x.mean()
"""
CALLED = """import json

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import crops
from crops import Mixer, TwoCrops


class Rows(Dataset):
    def __init__(self, change=None):
        self.x = np.linspace(-1, 3, 60, dtype=np.float32).reshape(4, 3, 5)
        self.change = change
        self.mixer = Mixer()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        x = torch.from_numpy(self.x[index])
        a, b = self.change(x)
        return {"a": a, "b": self.mixer.mix(a[:, :5], b), "c": self.mixer(x), "d": crops.one_hot(index)}


print(json.dumps([
    {key: [list(part.shape), part.reshape(-1).tolist()] for key, part in batch.items()}
    for batch in DataLoader(Rows(TwoCrops(5)), batch_size=2)
]))
"""


def test_what_a_data_set_calls_gets_tensors_however_far_it_is_from_where_they_are_computed_with(tmp_path: Path) -> None:
    """A transform's own methods, the functions of its file and of others, and methods of an object that the data set made."""
    (tmp_path / "project").mkdir()
    for name, text in {"crops": CROPS, "jitter": JITTER, "script": CALLED}.items():
        (tmp_path / f"project/{name}.py").write_text(text)
    record = convert_project(tmp_path / "project", tmp_path / "out")
    assert not [each for file in record.files for each in file.findings if each.severity == "error"]
    found = []
    for folder in ("project", "out"):
        done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path / folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        found.append(json.loads(done.stdout.splitlines()[-1]))
    for theirs, ours in zip(*found, strict=True):
        for key, (shape, values) in theirs.items():
            assert ours[key][0] == shape
            np.testing.assert_allclose(ours[key][1], values, rtol=1e-5, atol=1e-6)
