"""`mindferry verify --data`: from a function, a script, mindferry.toml; what goes wrong is one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mindferry.cli.verify import command
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.verify.data import Run, compare_runs

DATA = """import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, WeightedRandomSampler, random_split


class Samples(Dataset):
    def __init__(self, broken=-1):
        self.broken = broken

    def __len__(self):
        return 21

    def __getitem__(self, i):
        if i == self.broken:
            raise OSError(f"pictures/{i}.png is truncated")
        return {"image": torch.arange(6).float() * 0.1 + i, "label": i}


def loaders():
    train, test = random_split(Samples(), [15, 6], generator=torch.Generator().manual_seed(3))
    weights = torch.linspace(0.1, 1.0, 15)
    return {
        "train": DataLoader(train, batch_size=4, shuffle=True, drop_last=True),
        "test": DataLoader(test, batch_size=4),
        "weighted": DataLoader(train, batch_size=4, sampler=WeightedRandomSampler(weights, 30)),
    }


def sharded(rank=0, world_size=1, shuffle=True):
    return DataLoader(Samples(), batch_size=4, sampler=DistributedSampler(Samples(), world_size, rank, shuffle=shuffle))


def broken(workers=0):
    return DataLoader(Samples(13), batch_size=4, num_workers=workers)
"""
TRAIN = """import sys
from torch.utils.data import DataLoader
from data import Samples, loaders

if __name__ == "__main__":
    extra = DataLoader(Samples(), batch_size=int(sys.argv[1]))
    made = loaders()
    for batch in made["train"]:
        raise SystemExit("the training has begun")
"""


@pytest.fixture
def projects(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "data.py").write_text(DATA)
    (tmp_path / "theirs" / "train.py").write_text(TRAIN)
    (tmp_path / "theirs" / "idle.py").write_text("import data\n")
    convert_project(tmp_path / "theirs", tmp_path / "ours")
    return tmp_path / "theirs", tmp_path / "ours"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_all_loaders_of_a_function_are_compared_in_the_same_order(projects: tuple[Path, Path]) -> None:
    result = run(projects[1], "--data", "data:loaders", "--json")
    found = json.loads(result.output)
    assert result.exit_code == 0 and found["passed"]
    assert [each["name"] for each in found["pipelines"]] == [
        "data:loaders, train",
        "data:loaders, test",
        "data:loaders, weighted",
    ]
    assert [each["is_random"] for each in found["pipelines"]] == [True, False, True]
    assert all(each["places"] == ["image: equal", "label: equal"] for each in found["pipelines"])


def test_shards_are_complete_and_a_wrong_one_is_named(projects: tuple[Path, Path]) -> None:
    theirs, ours = projects
    (theirs / "mindferry.toml").write_text('[verify]\ndata = "data:sharded"\nshards = 2\nseed = 5\n')
    result = run(ours, "--data")
    assert result.exit_code == 0, result.output
    assert "21 samples in 2 shards, 1 of them repeated, as in torch" in result.output
    text = (ours / "data.py").read_text()
    (ours / "data.py").write_text(text.replace("world_size, rank,", "world_size, 0,"))
    result = run(ours, "--data")
    assert result.exit_code == 1
    assert "all ranks: shards: 10 samples are in no shard or in fewer than in torch, 10 in more" in result.output


def test_the_loaders_of_a_script_are_taken_before_it_trains(projects: tuple[Path, Path]) -> None:
    result = run(projects[1], "--data", "train.py 5")
    assert result.exit_code == 0, result.output or result.exception
    assert result.output.count("✓ train.py 5, loader") == 4 and "the training has begun" not in result.output
    (projects[1] / "data.py").write_text((projects[1] / "data.py").read_text().replace("* 0.1 + i", "* 0.1 + 2 * i"))
    result = run(projects[1], "--data", "train.py 5")
    assert result.exit_code == 1 and "epoch 1, batch 1, image: values" in result.output


BAD = {
    "nothing named": ("", "which data? Name what makes a loader"),
    "no function": ("data:nothing", "data has no 'nothing'"),
    "no script": ("nothing.py", "there is no"),
    "a script without loaders": ("idle.py", "read from no loader"),
    "a sample that raises": ("data:broken", "sample 13 of Samples failed: OSError: pictures/13.png is truncated"),
    "a sample that raises in a worker": (
        "data:broken(workers=1)",
        "sample 13 of Samples failed: OSError: pictures/13.png is truncated",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_sentence(projects: tuple[Path, Path], what: str) -> None:
    spec, said = BAD[what]
    result = run(projects[1], "--data", *([spec] if spec else []))
    assert isinstance(result.exception, MindferryError), result.output
    assert said in str(result.exception) and "Traceback" not in str(result.exception)
    assert not (projects[1] / ".mindferry" / "data.json").exists()


def test_migrate_compares_the_data_where_mindferry_toml_names_it(projects: tuple[Path, Path], tmp_path: Path) -> None:
    from mindferry.migrate import migrate

    (projects[0] / "mindferry.toml").write_text('[verify]\ndata = ["data:loaders"]\n')
    outcomes = {each.stage: each for each in migrate(projects[0], tmp_path / "migrated", lambda outcome: None)}
    assert list(outcomes) == ["analyze", "convert", "data"]
    assert outcomes["data"].ok and outcomes["data"].summary == "3 pipelines, 26 batches compared"


def test_a_shuffled_loader_with_other_values_differs_in_its_values_and_not_in_its_order() -> None:
    def run_of(epochs: list[list[list[float]]]) -> Run:
        batches = {
            (epoch, number): {"x": np.array(batch, np.float32)}
            for epoch, found in enumerate(epochs)
            for number, batch in enumerate(found)
        }
        return Run("", (2, 2), 2, batches)

    shuffled = run_of([[[1.0, 2.0], [3.0, 4.0]], [[4.0, 1.0], [2.0, 3.0]]])
    zeros = run_of([[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    ordered = run_of([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]])
    assert {each.what for each in compare_runs(shuffled, zeros, 1e-6).differences} == {"values"}
    assert {each.what for each in compare_runs(shuffled, ordered, 1e-6).differences} == {"order"}
