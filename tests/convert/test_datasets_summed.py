"""Datasets that are added up, whatever they are called, and slices of a TensorDataset give what torch gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from mindferry.convert import convert_project

ROWS = """import numpy as np
import torch
from torch.utils.data import Dataset


class Rows(Dataset):
    def __init__(self, count, seed):
        self.x = torch.from_numpy(np.random.default_rng(seed).normal(size=(count, 3)).astype("float32"))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index]
"""
MAIN = """import json

import torch
from rows import Rows
from torch.utils.data import DataLoader, TensorDataset

a = Rows(3, 1)
b = Rows(2, 2)
both = a + b
every = both + a
pairs = TensorDataset(torch.arange(6.0).view(3, 2), torch.arange(3))
x, y = pairs[1:]
found = [len(both), len(every), [batch.tolist() for batch in DataLoader(every, 4)]]
found += [x.view(-1).mul(2).tolist(), y.unsqueeze(0).tolist(), torch.is_tensor(pairs[:2][0])]
print(json.dumps(found))
"""


def test_sums_and_slices_of_datasets(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/rows.py").write_text(ROWS)
    (tmp_path / "source/main.py").write_text(MAIN)
    assert convert_project(tmp_path / "source", tmp_path / "out").findings == ()
    theirs, ours = (
        json.loads(
            subprocess.run(
                [sys.executable, "main.py"],
                cwd=tmp_path / name,
                capture_output=True,
                text=True,
                check=True,
                timeout=600,
            ).stdout
        )
        for name in ("source", "out")
    )
    assert theirs[:2] == [5, 8] and ours == theirs
