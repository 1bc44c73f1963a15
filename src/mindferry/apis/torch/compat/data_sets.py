"""torch's datasets made of tensors and of other datasets."""

import bisect
import itertools
import math
import warnings

import mindspore as ms
import numpy as np
from mindspore.communication import get_group_size, get_rank

from .data_samplers import Sampler, random_numbers
from .parts import ADDS_DATASETS, SUBSCRIPTS_CLASSES


class Dataset:
    """torch.utils.data.Dataset: the base of a project's datasets."""

    if SUBSCRIPTS_CLASSES:

        def __class_getitem__(cls, item):
            return cls

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    if ADDS_DATASETS:

        def __add__(self, other):
            return ConcatDataset([self, other])


class IterableDataset:
    """torch.utils.data.IterableDataset: has __iter__ and sets its own order."""

    if SUBSCRIPTS_CLASSES:

        def __class_getitem__(cls, item):
            return cls

    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    if ADDS_DATASETS:

        def __add__(self, other):
            return ChainDataset([self, other])


class TensorDataset(Dataset):
    """torch.utils.data.TensorDataset. Samples are arrays: indexing a Tensor is an operator, which workers must not run."""

    def __init__(self, *tensors):
        if any(len(each) != len(tensors[0]) for each in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors
        self.arrays = tuple(each.asnumpy() if isinstance(each, ms.Tensor) else np.asarray(each) for each in tensors)

    def __getitem__(self, index):
        return tuple(np.asarray(each[index]) for each in self.arrays)  # a number is a tensor too

    def __len__(self):
        return len(self.arrays[0])


class StackDataset(Dataset):
    """torch.utils.data.StackDataset: several datasets side by side."""

    def __init__(self, *args, **kwargs):
        self.datasets = kwargs or args
        self._length = len(next(iter(kwargs.values())) if kwargs else args[0])

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __len__(self):
        return self._length


class Subset(Dataset):
    """torch.utils.data.Subset: the samples with the given indices."""

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    """torch.utils.data.ConcatDataset: one dataset after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("datasets should not be an empty iterable")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence):
        return list(itertools.accumulate(len(each) for each in sequence))

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[number][index - (self.cumulative_sizes[number - 1] if number else 0)]

    def __len__(self):
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset):
    """torch.utils.data.ChainDataset: one iterable dataset after the other."""

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        return itertools.chain.from_iterable(self.datasets)

    def __len__(self):
        return sum(len(each) for each in self.datasets)


def random_split(dataset, lengths, generator=None):
    """torch.utils.data.random_split: lengths are counts, or fractions that add up to one."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = [math.floor(len(dataset) * fraction) for fraction in lengths]
        for index in range(len(dataset) - sum(counts)):
            counts[index % len(counts)] += 1
        lengths = counts
        if 0 in lengths:
            warnings.warn("random_split: one of the parts is empty", stacklevel=2)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = random_numbers(generator).permutation(len(dataset)).tolist()
    ends = list(itertools.accumulate(lengths))
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths)]


class DistributedSampler(Sampler):
    """torch.utils.data.DistributedSampler: every rank gets its share; set_epoch changes the order."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        super().__init__()
        self.dataset = dataset
        self.num_replicas = get_group_size() if num_replicas is None else num_replicas
        self.rank = get_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(f"Invalid rank {self.rank}, rank should be in the interval [0, {self.num_replicas - 1}]")
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        count = len(dataset) / self.num_replicas
        self.num_samples = math.floor(count) if drop_last else math.ceil(count)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self):
        size = len(self.dataset)
        order = (
            np.random.RandomState(self.seed + self.epoch).permutation(size).tolist()
            if self.shuffle
            else list(range(size))
        )
        while len(order) < self.total_size:  # the first samples again, so that all ranks have as many
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch


def get_worker_info():
    """torch.utils.data.get_worker_info: None, because an iterable dataset is read in one process."""
    return None
