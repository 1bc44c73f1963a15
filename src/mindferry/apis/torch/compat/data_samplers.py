"""The order in which a dataset is read: samplers with torch's meaning."""

import itertools
import math

import numpy as np

from .host_numbers import host_numbers
from .parts import SUBSCRIPTS_CLASSES, TAKES_GENERATORS


class Sampler:
    """torch.utils.data.Sampler: the base of samplers that a project writes itself."""

    def __init__(self, data_source=None):
        self.data_source = data_source

    if SUBSCRIPTS_CLASSES:

        def __class_getitem__(cls, item):
            return cls


class SequentialSampler(Sampler):
    """0, 1, 2, … in order."""

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """A new permutation every epoch. (GeneratorDataset(shuffle=True) repeats the first one after mindspore.set_seed.)"""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        super().__init__(data_source)
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self):
        return len(self)

    def __iter__(self):
        numbers, size = random_numbers(self.generator), len(self.data_source)
        if self.replacement:
            for start in range(0, len(self), 1024):  # num_samples may be endless, such as 1e10
                yield from numbers.randint(0, size, min(1024, len(self) - start)).tolist()
            return
        for _ in range(len(self) // size):
            yield from numbers.permutation(size).tolist()
        yield from numbers.permutation(size)[: len(self) % size].tolist()

    def __len__(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in a new order every epoch."""

    def __init__(self, indices, generator=None):
        super().__init__()
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        return (self.indices[i] for i in random_numbers(self.generator).permutation(len(self.indices)).tolist())

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probabilities in proportion to their weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        super().__init__()
        self.weights = np.asarray(weights.asnumpy() if hasattr(weights, "asnumpy") else weights, dtype=np.float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        chances = self.weights / self.weights.sum()
        return iter(
            random_numbers(self.generator).choice(len(chances), self.num_samples, self.replacement, chances).tolist()
        )

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of batch_size indices from another sampler."""

    def __init__(self, sampler, batch_size, drop_last):
        super().__init__()
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        count = len(self.sampler) / self.batch_size
        return math.floor(count) if self.drop_last else math.ceil(count)


def random_numbers(generator):
    """The host's random numbers, which a seed for torch seeds, or those of a generator with a seed."""
    if not TAKES_GENERATORS or generator is None:
        return host_numbers()
    if isinstance(generator, np.random.RandomState):
        return generator
    seed = int(generator.initial_seed())
    held = _STREAMS.get(id(generator))
    if held is None or held[0] != seed:
        held = _STREAMS[id(generator)] = (seed, np.random.RandomState(seed % 2**32), generator)
    return held[1]


_STREAMS = {}
