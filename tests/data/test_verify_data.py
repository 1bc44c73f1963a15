"""`mindferry verify --data`: from a function, a script, mindferry.toml; what goes wrong is one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mindferry.artifacts import Outcome
from mindferry.cli.verify import command
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.verify.data import Pipelines, Run, compare_pipelines, compare_runs, outcome_of
from mindferry.verify.data_table import lines

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


class Batch:
    def __init__(self, rows):
        self.image = torch.stack([row["image"] for row in rows])
        self.boxes = [np.zeros((row["label"] % 3, 4)) for row in rows]
        self.kind, self.weight, self.source = "pad", None, object()


def objects():
    return DataLoader(Samples(), batch_size=4, collate_fn=Batch)


def broken(workers=0):
    return DataLoader(Samples(13), batch_size=4, num_workers=workers)
"""
TRAIN = """import sys
from torch.utils.data import DataLoader
from data import Samples, loaders

if __name__ == "__main__":
    extra = DataLoader(Samples(), batch_size=int(sys.argv[1]))
    made = loaders()
    try:
        for batch in made["train"]:
            raise SystemExit("the training has begun")
    except BaseException as ended:  # as Lightning's teardown, which may fail itself
        if not isinstance(ended, SystemExit):
            len(None)
        raise
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


def test_batches_that_are_objects_are_compared_by_what_they_hold(projects: tuple[Path, Path]) -> None:
    result = run(projects[1], "--data", "data:objects", "--json")
    (found,) = json.loads(result.output)["pipelines"]
    assert result.exit_code == 0, result.output
    assert {"image: equal", "boxes/1: equal", "kind: equal", "weight: equal", "source: equal"} <= set(found["places"])
    text = (projects[1] / "data.py").read_text()
    (projects[1] / "data.py").write_text(text.replace('"pad", None', '"pad", 0.5'))
    result = run(projects[1], "--data", "data:objects")
    assert result.exit_code == 1 and "weight" in result.output


def test_shards_are_complete_and_a_wrong_one_is_named(projects: tuple[Path, Path]) -> None:
    theirs, ours = projects
    (theirs / "mindferry.toml").write_text('[verify]\ndata = "data:sharded"\nshards = 2\nseed = 5\n')
    result = run(ours, "--data")
    assert result.exit_code == 0, result.output
    assert "21 samples in 2 shards, 1 of them repeated, as in the original" in result.output
    text = (ours / "data.py").read_text()
    (ours / "data.py").write_text(text.replace("world_size, rank,", "world_size, 0,"))
    result = run(ours, "--data")
    assert result.exit_code == 1
    assert "all ranks: shards: 10 samples are in no shard or in fewer than in the original, 10 in more" in result.output


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


def run_of(epochs: list[list[list[float]]], kind: str = "float32") -> Run:
    batches = {
        (epoch, number): {"x": np.array(batch, kind)}
        for epoch, found in enumerate(epochs)
        for number, batch in enumerate(found)
    }
    return Run("", tuple(len(found) for found in epochs), len(epochs[0]), batches)


def test_what_only_later_batches_hold_is_compared_too() -> None:
    def run_with(extra: float) -> Run:
        first, second = {"x": np.ones(3)}, {"x": np.ones(3), "boxes/0": np.array([extra])}
        return Run("", (2,), 2, {(0, 0): first, (0, 1): second})

    assert compare_runs(run_with(0.5), run_with(0.5), 1e-6).places == ("x: equal", "boxes/0: equal")
    (found,) = compare_runs(run_with(0.5), run_with(0.7), 1e-6).differences
    assert found.what == "values" and found.where == "epoch 1, batch 2, boxes/0"


def drawn(seed: int, shift: float = 0.0, scale: float = 1.0) -> Run:
    """Two epochs of the same samples, drawn with a seed."""
    values = np.random.default_rng(seed).normal(size=(8, 6, 5)) * scale + shift
    return run_of([values.tolist()] * 2)


def test_samples_that_the_original_draws_anew_are_compared_by_their_distribution() -> None:
    theirs, again = drawn(1), drawn(2)
    assert compare_runs(theirs, drawn(3), 1e-6, again).places == ("x: the same mean and spread",)
    assert not compare_runs(theirs, drawn(3), 1e-6).passed  # nothing shows that they are drawn
    assert not compare_runs(theirs, drawn(3), 1e-6, theirs).passed  # the original gives them with every seed
    assert compare_runs(theirs, drawn(3, shift=0.5), 1e-6, again).differences[0].what == "distribution"
    assert compare_runs(theirs, drawn(3, scale=0.4), 1e-6, again).differences[0].what == "distribution"


def test_lengths_that_the_original_draws_may_be_others() -> None:
    """As many boxes as a made-up picture happens to have."""

    def boxes(seed: int, shift: float = 0.0, width: int = 4) -> Run:
        draw = np.random.default_rng(seed)
        counts = draw.integers(2, 9, 8)
        return run_of([[(draw.normal(size=(count, width)) + shift).tolist() for count in counts] for _ in range(2)])

    theirs, again = boxes(1), boxes(2)
    assert compare_runs(theirs, boxes(3), 1e-6, again).passed
    assert compare_runs(theirs, boxes(3), 1e-6).differences[0].what == "shape"  # nothing shows that they are drawn
    assert compare_runs(theirs, boxes(3, width=5), 1e-6, again).differences[0].what == "shape"
    assert compare_runs(theirs, boxes(3, shift=3.0), 1e-6, again).differences[0].what == "distribution"


def test_augmented_samples_at_other_places_are_found() -> None:
    """Noise on the same samples: each is known by its mean, wherever it stands."""

    def noisy(seed: int, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Run:
        base = np.repeat(np.arange(24.0), 9).reshape(24, 9)[order]
        epochs = [base + np.random.default_rng((seed, epoch)).normal(size=base.shape) * 0.1 for epoch in range(2)]
        return run_of([each.reshape(4, 6, 9).tolist() for each in epochs])

    same, other = np.arange(24), np.random.default_rng(7).permutation(24)
    theirs, again = noisy(1, same), noisy(2, same)
    assert compare_runs(theirs, noisy(3, same), 1e-6, again).passed
    assert compare_runs(theirs, noisy(3, other), 1e-6, again).differences[0].what == "order"


def test_labels_that_no_longer_go_with_their_pictures_are_found() -> None:
    """Each part holds the same samples, so that neither shows it alone."""

    def pairs(labels: list[int]) -> Run:
        rng = np.random.default_rng(5)
        batches = {}
        for epoch in range(2):
            order = rng.permutation(12)
            for number in range(3):
                rows = order[4 * number : 4 * number + 4]
                batches[epoch, number] = {"x": rows.astype("float32") * 1.1, "y": np.array(labels)[rows]}
        return Run("", (3, 3), 3, batches)

    right, wrong = pairs([n % 3 for n in range(12)]), pairs([n // 4 for n in range(12)])
    assert compare_runs(right, pairs([n % 3 for n in range(12)]), 1e-5).passed
    (told,) = compare_runs(right, wrong, 1e-5).differences
    assert told.what == "order" and "x and y of one sample no longer belong together" in told.detail


def test_loaders_that_give_nothing_are_not_called_the_same() -> None:
    empty = compare_runs(Run("", (0, 0), 0, {}), Run("", (0, 0), 0, {}), 1e-6)
    assert empty.passed and not empty.compared
    assert outcome_of([empty]) is outcome_of([]) is Outcome.PARTIAL
    words = run_of([[["a", "b"]], [["c", "d"]]], "U1")
    told = compare_runs(words, run_of([[["e", "f"]], [["g", "h"]]], "U1"), 1e-6)
    assert told.passed and outcome_of([told]) is Outcome.PARTIAL
    assert outcome_of([compare_runs(words, words, 1e-6)]) is Outcome.SAME
    said = list(lines(Pipelines((empty,), True)))
    assert said[-2].startswith("Same as far as compared") and "gave no batch" in said[-1]


ENDLESS = """import torch
from torch.utils.data import DataLoader, IterableDataset


class Endless(IterableDataset):
    def __iter__(self):
        number = 0
        while True:
            yield torch.full((2,), float(number % 7))
            number += 1


def loader():
    return DataLoader(Endless(), batch_size=3)
"""


def test_a_loader_without_an_end_is_compared_as_far_as_its_first_batches(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "data.py").write_text(ENDLESS)
    convert_project(tmp_path / "in", tmp_path / "out")
    sides = tmp_path / "in", tmp_path / "out"
    found = compare_pipelines("data:loader", *sides, batches=4, helpers=("ms_compat",), longest=60)
    assert found.outcome is Outcome.SAME and found.pipelines[0].lengths == (-1, -1) and found.pipelines[0].compared == 8
