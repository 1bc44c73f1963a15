"""Data code computes with numpy's arrays: what is only asked for in networks is not asked for there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mindferry.convert import convert_project

TABLE = """import pandas
import torch
from torch.utils.data import Dataset


class Faces(Dataset):
    def __init__(self, path):
        boxes = pandas.read_csv(path)
        self.boxes = torch.as_tensor(boxes[boxes.x > 0].values)

    def __getitem__(self, number):
        return self.boxes[number]
"""


def test_the_values_of_a_table_are_no_part_of_a_pair(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/faces.py").write_text(TABLE)
    result = convert_project(tmp_path / "source", tmp_path / "out")
    assert result.findings == ()
    assert "boxes[boxes.x > 0].values" in (tmp_path / "out/faces.py").read_text()


ROWS = """import json
import sys
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        numbers = np.random.default_rng(7)
        self.rows = [numbers.integers(0, 5, (3, 4)) for _ in range(4)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"x": torch.as_tensor(self.rows[index]), "words": torch.arange(index + 1)}


def compare(rows):
    x = rows[0]["x"]
    mask = rows[0]["x"].ne(0)
    return [mask, rows[0]["x"].gt(1).int(), rows[0]["x"].masked_fill(x == 0, 9), rows[1]["x"].eq(0).sum(-1)]


def shapes(rows):
    first, second = rows[0]["x"], rows[1]["x"]
    return [first.view(-1), second.view(2, -1), first.t(), first.flatten(0), second.transpose(0, 1), first.clamp(1, 3)]


def floats(rows):
    first, second = rows[0]["x"], rows[1]["x"]
    return [first.div(4), second.sqrt(), first.exp(), second.float().pow(2), first.to(torch.float32), second.numel()]


def by_parts(rows):
    return [part for row in rows for part in row["x"].split([1, 3], dim=1)]


def by_name(rows):
    return [rows[0]["x"].any(dim=1), rows[1]["x"].all(dim=0), rows[0]["x"].float().mean(dim=1, keepdim=True)]


def padded(rows):
    words = nn.utils.rnn.pad_sequence([row["words"] for row in rows], batch_first=True, padding_value=-1)
    return [words, words.ne(-1), words.size(1), words.repeat(2, 1)]


def told(value):
    if not hasattr(value, "tolist"):
        return value
    return str(value.dtype).rpartition(".")[2].lower(), np.round(np.asarray(value.tolist(), dtype=float), 4).tolist()


for collate in (compare, shapes, floats, by_parts, by_name, padded):
    for batch in DataLoader(Rows(), 2, collate_fn=collate):
        print(collate.__name__, [told(each) for each in batch])
"""


def test_what_is_in_a_row_is_unknown_and_yet_computed_as_torch_does(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/rows.py").write_text(ROWS)
    convert_project(tmp_path / "source", tmp_path / "out")
    theirs, ours = (
        subprocess.run(
            [sys.executable, "rows.py"], cwd=tmp_path / name, capture_output=True, text=True, check=True, timeout=600
        ).stdout.splitlines()
        for name in ("source", "out")
    )
    assert len(theirs) == 12 and ours == theirs
