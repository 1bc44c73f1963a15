"""The batches of a DataLoader and of its conversion: values, types, order, lengths, errors."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import data_formats as formats
import pytest
from data_pairs import Both, assert_equal

SOURCE = """import collections
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

Pair = collections.namedtuple("Pair", "left right")


class Samples(Dataset):
    def __init__(self, kind, size=10):
        self.kind, self.size = kind, size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        array = np.arange(6, dtype=np.float32).reshape(2, 3) + index
        return {
            "pair": lambda: (array, index),
            "dict": lambda: {"image": array, "label": index, "name": f"sample {index}", "box": {"x": index * 0.5, "y": [index, array[0]]}},
            "single": lambda: array,
            "numbers": lambda: (index, index * 0.5, bool(index % 2), np.float32(index), np.float64(index), np.int32(index), np.uint8(index)),
            "strings": lambda: (str(index), bytes([index])),
            "named": lambda: Pair(array, index),
            "nested": lambda: (array, (index, [array, "x"])),
        }[self.kind]()


class Stream(IterableDataset):
    def __iter__(self):
        return iter([np.full(2, i, dtype=np.float64) for i in range(7)])


def halves(batch):
    return [each[1] for each in batch[: len(batch) // 2]], len(batch)


def loader(kind="pair", size=10, **options):
    return DataLoader(Samples(kind, size), **options)


def stream(**options):
    return DataLoader(Stream(), **options)
"""
KINDS = ["pair", "dict", "single", "numbers", "strings", "named", "nested"]
OPTIONS = [
    {"batch_size": 4},
    {"batch_size": 4, "drop_last": True},
    {},
    {"batch_size": 10, "pin_memory": True, "persistent_workers": False},
    {"batch_size": None},
    {"batch_sampler": [[1, 2], [9], [0, 4, 3]]},
    {"batch_size": 3, "sampler": [5, 1, 9, 2]},
]


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_batches_have_torchs_form_types_and_values(both: Both, kind: str, workers: int) -> None:
    theirs, ours = both(SOURCE)
    expected = list(theirs.loader(kind, batch_size=4))
    actual = list(ours.loader(kind, batch_size=4, num_workers=workers))
    assert_equal(expected, actual)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_mean_the_same(both: Both, options: dict[str, Any]) -> None:
    theirs, ours = both(SOURCE)
    expected, actual = theirs.loader(**options), ours.loader(**options)
    assert len(expected) == len(actual) and len(expected.dataset) == len(actual.dataset)
    assert expected.batch_size == actual.batch_size and expected.drop_last == actual.drop_last
    for workers in (0, 2):
        assert_equal(list(expected), list(ours.loader(**options, num_workers=workers)))


def test_a_collate_function_of_the_project_is_called(both: Both) -> None:
    theirs, ours = both(SOURCE)
    assert_equal(
        list(theirs.loader(batch_size=4, collate_fn=theirs.halves)),
        list(ours.loader(batch_size=4, collate_fn=ours.halves)),
    )


def test_an_iterable_dataset_is_read_in_its_own_order(both: Both) -> None:
    theirs, ours = both(SOURCE)
    for options in ({"batch_size": 3}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}):
        assert_equal(list(theirs.stream(**options)), list(ours.stream(**options)))


def test_shuffling_is_a_new_permutation_every_epoch_also_after_a_seed(both: Both) -> None:
    import mindspore as ms

    ours = both(SOURCE)[1]
    ms.set_seed(1)
    loader = ours.loader(size=40, batch_size=8, shuffle=True)
    epochs = [[int(label) for _, labels in loader for label in labels.asnumpy()] for _ in range(3)]
    assert all(sorted(each) == list(range(40)) for each in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    ms.set_seed(1)
    assert [
        int(label) for _, labels in ours.loader(size=40, batch_size=8, shuffle=True) for label in labels.asnumpy()
    ] == epochs[0]


@pytest.mark.parametrize("kind", KINDS)
def test_worker_processes_hand_over_every_kind_of_batch(both: Both, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)  # so that two workers are allowed on a machine with two cores
    theirs, ours = both(SOURCE)
    assert_equal(list(theirs.loader(kind, batch_size=4)), list(ours.loader(kind, batch_size=4, num_workers=2)))


RANDOM = """import numpy as np
import random
from torch.utils.data import DataLoader, Dataset


class Draws(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.array([random.random(), np.random.rand()])


def loader(**options):
    return DataLoader(Draws(), batch_size=1, **options)
"""


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_random_numbers_differ_between_workers_and_epochs_and_follow_the_seed(
    both: Both, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    import mindspore as ms

    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    ours = both(RANDOM)[1]

    def two_epochs() -> list[float]:
        ms.set_seed(4)
        loader = ours.loader(num_workers=workers)
        return [float(number) for _ in range(2) for batch in loader for number in batch.asnumpy().reshape(-1)]

    drawn = two_epochs()
    assert len(set(drawn)) == len(drawn) == 32
    assert drawn == two_epochs()


INIT = """import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

SEEN = []


class Draws(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.array([index, np.random.randint(0, 1000000)])


class Stream(IterableDataset):
    def __iter__(self):
        return iter([np.full(2, i, dtype=np.float64) for i in range(7)])


def start(worker):
    SEEN.append(worker)
    np.random.seed(100 + worker)


def loader(**options):
    return DataLoader(Draws(), batch_size=2, **options)


def seeded(seed):
    return DataLoader(Draws(), batch_size=2, shuffle=True, generator=torch.Generator().manual_seed(seed))


def stream(**options):
    return DataLoader(Stream(), batch_size=3, **options)
"""


def test_worker_init_fn_seeds_every_worker_as_in_torch(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    theirs, ours = both(INIT)
    expected = list(theirs.loader(num_workers=2, worker_init_fn=theirs.start, persistent_workers=True))
    assert_equal(expected, list(ours.loader(num_workers=2, worker_init_fn=ours.start, persistent_workers=True)))


def test_a_generator_sets_the_order_by_its_seed(both: Both) -> None:
    for module in both(INIT):
        orders = [[int(row[0]) for batch in module.seeded(seed) for row in batch] for seed in (5, 5, 6)]
        assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == list(range(8))


def test_an_iterable_dataset_is_read_with_a_worker_too(both: Both) -> None:
    theirs, ours = both(INIT)
    assert_equal(list(theirs.stream(num_workers=1)), list(ours.stream(num_workers=1)))


def test_the_first_batch_can_be_taken_alone(both: Both) -> None:
    theirs, ours = both(SOURCE)
    assert_equal(next(iter(theirs.loader(batch_size=4))), next(iter(ours.loader(batch_size=4, num_workers=2))))


def test_more_workers_than_cores_are_no_error(both: Both) -> None:
    theirs, ours = both(SOURCE)
    assert_equal(list(theirs.loader(batch_size=4)), list(ours.loader(batch_size=4, num_workers=64)))


BROKEN = """import numpy as np
from torch.utils.data import DataLoader, Dataset


class Broken(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            raise OSError("images/0005.png is truncated")
        return np.zeros(3, dtype=np.float32), index


def loader(**options):
    return DataLoader(Broken(), batch_size=2, **options)
"""


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_sample_that_raises_is_named_and_the_run_ends(
    both: Both, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    ours = both(BROKEN)[1]
    begin, before = time.monotonic(), children()
    with pytest.raises(RuntimeError, match=r"sample 5 of Broken failed: OSError: images/0005.png is truncated"):
        list(ours.loader(num_workers=workers))
    assert time.monotonic() - begin < 60
    assert children() <= before, "workers are gone"


def children() -> set[str]:
    found = set()
    for task in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = task.read_text()
        except OSError:
            continue
        name, rest = text.rpartition(")")[0], text.rpartition(")")[2].split()
        if int(rest[1]) == os.getpid() and rest[0] != "Z":
            found.add(name)
    return found


def test_an_image_that_was_not_made_an_array_says_so(both: Both) -> None:
    source = (
        "from torch.utils.data import DataLoader\n\n\ndef loader(data):\n    return DataLoader(data, batch_size=2)\n"
    )
    from PIL import Image

    ours = both(source)[1]
    with pytest.raises(TypeError, match=r"batch of Image.*ToTensor"):
        list(ours.loader([Image.new("L", (2, 2))] * 2))


PIPELINE = """from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def loader(root, train, workers=0):
    transform = transforms.Compose([
        transforms.Resize((16, 20)),
        transforms.ToTensor(),
        transforms.Normalize((0.5,), (0.25,)),
    ])
    dataset = datasets.MNIST(root, train=train, transform=transform)
    return DataLoader(dataset, batch_size=4, shuffle=False, num_workers=workers, drop_last=train)
"""


@pytest.mark.parametrize("train", [True, False])
def test_a_known_pipeline_becomes_a_generator_dataset_with_equal_batches(
    both: Both, tmp_path: Path, train: bool
) -> None:
    import mindspore.dataset as ds

    formats.write_mnist(tmp_path)
    theirs, ours = both(PIPELINE)
    expected, actual = theirs.loader(str(tmp_path), train), ours.loader(str(tmp_path), train, 2)
    assert isinstance(actual, ds.Dataset)
    assert len(expected) == len(actual)
    for _ in range(2):
        assert_equal([tuple(each) for each in expected], [tuple(each) for each in actual])


@pytest.mark.parametrize("workers", [0, 2])
def test_a_generator_dataset_is_shuffled_anew_every_epoch_after_a_seed(
    both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    import mindspore as ms

    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    formats.write_mnist(tmp_path)
    ours = both(PIPELINE.replace("shuffle=False", "shuffle=True"))[1]
    ms.set_seed(2)
    loader = ours.loader(str(tmp_path), False, workers)
    epochs = [[float(each) for images, _ in loader for each in images.asnumpy().mean((1, 2, 3))] for _ in range(4)]
    assert len({tuple(each) for each in epochs}) > 2
    assert len({tuple(sorted(each)) for each in epochs}) == 1


def test_a_project_that_reads_the_loaders_dataset_keeps_a_loader() -> None:
    from mindferry import convert_source

    text = PIPELINE + "\n\ndef size(loader):\n    return len(loader.dataset)\n"
    assert "GeneratorDataset" in convert_source(PIPELINE).main
    assert "GeneratorDataset" not in convert_source(text).main
    two_views = PIPELINE.replace("transforms.ToTensor(),", "transforms.ToTensor(),\n        views,")
    assert "GeneratorDataset" not in convert_source(two_views).main
