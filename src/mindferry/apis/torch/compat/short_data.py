"""A DataLoader for projects that give it a dataset that can be indexed, and no workers. data_loader.py has all of it."""

import collections.abc
import itertools
import math

import mindspore as ms
import numpy as np

from .data_collate import collate_arrays, like_mapping, to_tensors
from .data_samplers import random_numbers
from .parts import COLLATES_OTHERWISE, NAMES_MAPPINGS, NAMES_TUPLES


class ShortDataLoader:
    """torch.utils.data.DataLoader: the batches of a dataset, in a new order every time if they are shuffled."""

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        self.dataset, self.batch_size, self.shuffle, self.drop_last = dataset, batch_size, shuffle, drop_last
        self.sampler = sampler
        if COLLATES_OTHERWISE:
            self.collate_fn = collate_fn or collate_arrays

    def __len__(self):
        count = len(self.dataset if self.sampler is None else self.sampler) / self.batch_size
        return math.floor(count) if self.drop_last else math.ceil(count)

    def __iter__(self):
        numbers, size = random_numbers(None), len(self.dataset)
        order = iter(numbers.permutation(size).tolist() if self.shuffle else range(size))
        if self.sampler is not None:
            order = iter(self.sampler)
        while indices := list(itertools.islice(order, self.batch_size)):
            if not self.drop_last or len(indices) == self.batch_size:
                samples = [self.dataset[index] for index in indices]
                yield to_tensors(self.collate_fn(samples)) if COLLATES_OTHERWISE else stack_samples(samples)
        if self.shuffle:
            numbers.permutation(size)  # torch draws a second order, for samples that none are left of


def stack_samples(samples):
    """torch.utils.data.default_collate: a Tensor for each part of the samples."""
    first = samples[0]
    if isinstance(first, (str, bytes)):
        return list(samples)
    if isinstance(first, collections.abc.Mapping):
        parts = {key: stack_samples([each[key] for each in samples]) for key in first}
        return like_mapping(first, parts) if NAMES_MAPPINGS else parts
    if NAMES_TUPLES and isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(stack_samples(column) for column in zip(*samples)))
    if isinstance(first, collections.abc.Sequence):
        return [stack_samples(column) for column in zip(*samples, strict=True)]
    if not isinstance(first, (ms.Tensor, np.ndarray, np.generic, int, float)):
        raise TypeError(f"no batch of {type(first).__name__}: make it an array, or give a collate_fn")
    array = np.stack([each.asnumpy() if isinstance(each, ms.Tensor) else each for each in samples])
    array = array.astype(np.int64) if array.dtype == np.uint64 else array  # numpy's sum of bytes; torch's is int64
    return ms.Tensor.from_numpy(array) if array.size else ms.Tensor(array)
