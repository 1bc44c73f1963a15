"""`compare_pipelines` calls equal pipelines equal and names what differs in others."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry import convert_source
from mindferry.errors import MindferryError
from mindferry.verify.data import PipelineComparison, compare_pipelines

SOURCE = """import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Samples(Dataset):
    def __init__(self, noise=0.0):
        self.noise = noise

    def __len__(self):
        return 20

    def __getitem__(self, i):
        image = torch.arange(6).float() * 0.1 + i
        return {"image": image + self.noise * np.random.randn(), "label": i}


def plain(batch_size=8):
    return DataLoader(Samples(), batch_size=batch_size)


def shuffled():
    return DataLoader(Samples(), batch_size=8, shuffle=True, drop_last=True)


def noisy():
    return DataLoader(Samples(noise=0.5), batch_size=5, shuffle=True)


def sharded(rank=0, world_size=1):
    return DataLoader(Samples(), batch_size=4, sampler=DistributedSampler(Samples(), world_size, rank, shuffle=False))
"""


def run(tmp_path: Path, function: str, change: tuple[str, str] = ("", ""), **options: int) -> PipelineComparison:
    for name, text in (("theirs", SOURCE), ("ours", convert_source(SOURCE).code)):
        (tmp_path / name).mkdir()
        assert change[0] in text
        (tmp_path / name / "data.py").write_text(text.replace(*change) if name == "ours" and change[0] else text)
    return compare_pipelines(function, tmp_path / "theirs", tmp_path / "ours", **options).pipelines[-1]


def test_equal_pipelines_pass(tmp_path: Path) -> None:
    result = run(tmp_path, "data:plain(batch_size=6)")
    assert result.passed and not result.is_random and result.lengths == (4, 4) and result.compared == 8


def test_another_scale_is_named_with_its_batch_and_place(tmp_path: Path) -> None:
    result = run(tmp_path, "data:plain", ("* 0.1 + i", "* 0.2 + i"))
    first = result.differences[0]
    assert (first.where, first.what) == ("epoch 1, batch 1, image", "values") and not result.passed


@pytest.mark.parametrize(
    ("function", "change", "what"),
    [
        ("data:plain", ('"label": i}', '"target": i}'), "places"),
        ("data:plain", ('"label": i}', '"label": float(i)}'), "type"),
        ("data:plain", ("return 20", "return 9"), "length"),
        ("data:shuffled", ("shuffle=True, drop_last", "shuffle=False, drop_last"), "order"),
        ("data:noisy", ("noise=0.5", "noise=30.0"), "distribution"),
        ("data:noisy", ('"label": i}', '"label": i // 2}'), "values"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, function: str, change: tuple[str, str], what: str) -> None:
    result = run(tmp_path, function, change)
    assert what in {each.what for each in result.differences}


@pytest.mark.parametrize("function", ["data:shuffled", "data:noisy"])
def test_random_pipelines_are_compared_as_sets_and_by_moments(tmp_path: Path, function: str) -> None:
    result = run(tmp_path, function)
    assert result.is_random
    assert not result.differences


def test_shards_are_compared_rank_by_rank(tmp_path: Path) -> None:
    assert run(tmp_path, "data:sharded", shards=3).passed


def test_a_function_that_is_not_there_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(MindferryError, match="data has no 'missing'"):
        run(tmp_path, "data:missing")
