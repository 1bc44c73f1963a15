"""What of the helpers a converted file needs is read from its calls, whatever functions of the project are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.convert.project import convert_project

SOURCE = """import torch


def get(seed=0):
    return torch.nn.Linear(2, 2)


def average(paths):
    return [torch.load(path, map_location=lambda storage, place: storage)["state_dict"] for path in paths], get(1)
"""


def test_a_function_of_the_project_named_get_is_no_dictionary_s_method(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(SOURCE)
    result = convert_project(tmp_path / "project", tmp_path / "out")
    assert (tmp_path / "out" / "ms_compat.py").exists()
    assert not [each for each in result.findings if each.severity == "error"]


LOADS = """import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, idx):
        return torch.ones(3)

{batch}
def collate(rows):
    return {made}


if __name__ == "__main__":
    for batch in DataLoader(Rows(), batch_size=2, collate_fn=collate):
        print(batch)
"""
BATCH = """
class Batch:
    def __init__(self, x):
        self.x = x

"""


@pytest.mark.parametrize(("batch", "made"), [("", "torch.stack(rows)"), (BATCH, "Batch(torch.stack(rows))")])
def test_only_a_project_with_objects_that_may_be_batches_looks_into_them(tmp_path: Path, batch: str, made: str) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "train.py").write_text(LOADS.format(batch=batch, made=made))
    convert_project(tmp_path / "project", tmp_path / "out")
    assert ("with_tensors_inside" in (tmp_path / "out" / "ms_compat.py").read_text()) is bool(batch)
