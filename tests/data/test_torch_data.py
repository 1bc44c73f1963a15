"""torch.utils.data and its conversion: datasets made of others, samplers, splits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from data_pairs import Both

SOURCE = """import torch
from torch.utils.data import *
from torch.utils.data import (BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, DistributedSampler, IterableDataset, RandomSampler, Sampler,
                              SequentialSampler, StackDataset, Subset, SubsetRandomSampler, TensorDataset, WeightedRandomSampler,
                              default_collate, get_worker_info, random_split)


class Squares(Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return index * index


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(3) if get_worker_info() is None else ())


class Backwards(Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(range(len(self.data) - 1, -1, -1))

    def __len__(self):
        return len(self.data)


class Endless(Sampler):
    def __init__(self):
        pass

    def __iter__(self):
        while True:
            yield 2


def make():
    return {0}
""".replace("from torch.utils.data import *\n", "")

SAME = [
    "[Subset(Squares(9), [3, 1, 8])[i] for i in range(3)]",
    "[ConcatDataset([Squares(3), Squares(5)])[i] for i in (-1, 0, 2, 3, 7)]",
    "[(Squares(3) + Squares(2))[i] for i in range(5)]",
    "list(ChainDataset([Stream(), Stream()]))",
    "[StackDataset(Squares(4), Squares(4))[i] for i in range(4)]",
    "[StackDataset(a=Squares(4), b=Squares(4))[i] for i in range(4)]",
    "list(SequentialSampler(Squares(5)))",
    "next(iter(DataLoader(Squares(5), batch_size=3, sampler=Endless()))).tolist()",
    "next(iter(DataLoader(Squares(5), batch_size=3, sampler=Endless(), num_workers=2))).tolist()",
    "next(iter(DataLoader(Squares(1), batch_size=3, sampler=RandomSampler(Squares(1), True, int(1e10))))).tolist()",
    "list(BatchSampler(SequentialSampler(Squares(7)), 3, False))",
    "list(BatchSampler(SequentialSampler(Squares(7)), 3, drop_last=True))",
    "(len(BatchSampler(Backwards(Squares(7)), 3, False)), len(BatchSampler(Backwards(Squares(7)), 3, True)))",
    "list(BatchSampler(Backwards(Squares(7)), 4, False))",
    "[list(DistributedSampler(Squares(10), 3, rank, shuffle=False)) for rank in range(3)]",
    "[list(DistributedSampler(Squares(10), 3, rank, shuffle=False, drop_last=True)) for rank in range(3)]",
    "[list(DistributedSampler(Squares(2), 5, rank, shuffle=False)) for rank in range(5)]",
    "[len(each) for each in random_split(Squares(11), [0.5, 0.3, 0.2])]",
    "[len(each) for each in random_split(Squares(11), [7, 4])]",
    "len(RandomSampler(Squares(5), replacement=True, num_samples=12))",
    "sorted(RandomSampler(Squares(5)))",
    "sorted(SubsetRandomSampler([4, 9, 2]))",
]


@pytest.mark.parametrize("expression", SAME)
def test_datasets_and_samplers_agree(both: Both, expression: str) -> None:
    theirs, ours = both(SOURCE.replace("{0}", expression))
    assert ours.make() == theirs.make()


def test_a_tensor_dataset_gives_the_same_rows(both: Both) -> None:
    theirs, ours = both(
        SOURCE.replace("{0}", "TensorDataset(torch.arange(12.0).reshape(4, 3), torch.tensor([1, 0, 3, 2]))")
    )
    for (x, y), (our_x, our_y) in zip(theirs.make(), (ours.make()[i] for i in range(4)), strict=True):
        assert np.array_equal(x.numpy(), our_x) and int(y) == int(our_y)


def test_a_split_is_a_partition_and_follows_the_generator(both: Both) -> None:
    expression = "[list(each.indices) for each in random_split(Squares(20), [12, 8], generator=torch.Generator().manual_seed(42))]"
    theirs, ours = both(SOURCE.replace("{0}", expression))
    for module in (theirs, ours):
        first, second = module.make()
        assert sorted(first + second) == list(range(20)) and first != sorted(first)
        assert module.make() == [first, second], "the same seed gives the same split"


def test_random_samplers_draw_with_torchs_distribution(both: Both) -> None:
    expression = "list(WeightedRandomSampler([1.0, 2.0, 5.0, 0.0], 4000)), list(RandomSampler(Squares(4), replacement=True, num_samples=4000))"
    theirs, ours = both(SOURCE.replace("{0}", expression))
    np.random.seed(3)
    torch.manual_seed(3)
    for one, other in zip(theirs.make(), ours.make(), strict=True):
        expected, actual = (np.bincount(each, minlength=4) / 4000 for each in (one, other))
        assert np.abs(expected - actual).max() < 0.04


def test_random_sampler_reorders_every_epoch_after_a_seed(both: Both) -> None:
    ours = both(SOURCE.replace("{0}", "RandomSampler(Squares(30))"))[1]
    np.random.seed(0)
    sampler = ours.make()
    first, second = list(sampler), list(sampler)
    assert first != second and sorted(first) == sorted(second) == list(range(30))


def test_distributed_shards_are_disjoint_complete_and_change_with_the_epoch(both: Both) -> None:
    expression = "[DistributedSampler(Squares(12), 4, rank, seed=5) for rank in range(4)]"
    for module in both(SOURCE.replace("{0}", expression)):
        samplers = module.make()
        before = [list(each) for each in samplers]
        assert sorted(index for shard in before for index in shard) == list(range(12))
        assert before == [list(each) for each in samplers]
        for each in samplers:
            each.set_epoch(1)
        after = [list(each) for each in samplers]
        assert after != before and sorted(index for shard in after for index in shard) == list(range(12))
