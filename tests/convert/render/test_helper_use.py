"""What of the helpers a converted file needs is read from its calls, whatever functions of the project are named."""

from __future__ import annotations

from pathlib import Path

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
