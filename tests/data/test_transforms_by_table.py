"""Transforms that a data set comes to by a table, a loop, an attribute or a lambda's name compute what torch's do."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mindferry.convert import convert_project

CHANGES = """import torch


def flip(x):
    return x.flip(1)


def crop(x):
    return x.narrow(1, 1, 2).contiguous()


def center(x):
    return (x - x.mean(dim=1, keepdim=True)).clamp(min=-0.5)


def turn(x):
    return x.mul(2).t()


class Shift:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x.add(self.by).unsqueeze(0)


class Steps:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


CHANGE = {"flip": flip, "center": center, "shift": Shift(3)}


def change_named(name):
    return {"flip": flip, "crop": crop}[name]
"""

SCRIPT = """import json

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from changes import CHANGE, Shift, Steps, change_named, turn


class Rows(Dataset):
    def __init__(self, change=None, after=None, more=()):
        self.x = torch.from_numpy(np.load("x.npy"))
        self.change, self.after, self.more = change, after, more

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        if self.change:
            x = self.change(x)
        for each in self.more:
            x = each(x)
        if self.after is not None:
            x = self.after(x)
        return x


def first_half(x):
    return x.narrow(0, 0, 2)


def mirrored(x):
    return x.flip(0)


found = {}


def keep(name, rows, **settings):
    found[name] = [[list(each.shape), each.tolist()] for batch in DataLoader(rows, 3, **settings) for each in batch]


for name in CHANGE:
    keep(name, Rows(CHANGE[name]))
for index, change in enumerate((turn, Shift(2))):
    keep(f"loop {index}", Rows(change))
keep("made", Rows(None, change_named("crop")))
keep("several", Rows(more=[CHANGE["flip"], turn]))
keep("steps", Rows(Steps([CHANGE["center"], Shift(1)])))
rows = Rows()
rows.change = first_half
keep("set", rows)
rows.change = lambda x: x.unsqueeze(0).expand(2, -1, -1).flip(0)
keep("lambda", rows)
BY_NAME = {"turned": lambda x: x.t().unsqueeze(0), "narrow": lambda x: x.narrow(1, 0, 2)}
longer = lambda x: x.unsqueeze(1)
for name in BY_NAME:
    keep(name, Rows(BY_NAME[name]))
keep("longer", Rows(longer))


def inside():
    keep("inside", Rows(after=longer, more=[lambda x: x.mul(2).clamp(max=1), mirrored]))


inside()
JOIN = {"stack": lambda rows: torch.stack([row.unsqueeze(0) for row in rows]), "list": lambda rows: [row.t() for row in rows]}
for name in JOIN:
    keep(name, Rows(), collate_fn=JOIN[name])
json.dump(found, open("found.json", "w"))
"""


def test_a_data_set_is_given_its_transforms_in_many_ways(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/changes.py").write_text(CHANGES)
    (tmp_path / "source/main.py").write_text(SCRIPT)
    findings = convert_project(tmp_path / "source", tmp_path / "out").findings
    assert {each.code for each in findings} == {"MF130"}  # it runs in the process that trains
    found = []
    for name in ("source", "out"):
        np.save(tmp_path / name / "x.npy", np.random.default_rng(3).normal(size=(6, 3, 4)).astype(np.float32))
        subprocess.run([sys.executable, "main.py"], cwd=tmp_path / name, check=True, timeout=600)
        found.append(json.loads((tmp_path / name / "found.json").read_text()))
    theirs, ours = found
    assert len(theirs) == 16 and list(ours) == list(theirs)
    for name, samples in theirs.items():
        assert [shape for shape, _ in ours[name]] == [shape for shape, _ in samples], name
        for (_, expected), (_, given) in zip(samples, ours[name], strict=True):
            assert np.ravel(given).tolist() == pytest.approx(np.ravel(expected).tolist(), abs=1e-5), name
