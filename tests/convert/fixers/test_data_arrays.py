"""Data code computes with numpy's arrays: what is only asked for in networks is not asked for there."""

from __future__ import annotations

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
