"""torch's DataLoader over a MindSpore pipeline."""

import itertools
import math
import os
import random

import mindspore as ms
import mindspore.dataset as ds
import numpy as np

from .data_collate import collate_arrays, convert_arrays, map_nested, to_tensors
from .data_process import is_marked, to_arrays
from .data_samplers import BatchSampler, RandomSampler, SequentialSampler, random_numbers
from .data_watch import DeathWatch
from .host_numbers import host_numbers, keep_numbers, python_numbers
from .parts import MARKS_DATA, STREAMS_DATA, TAKES_SINGLE_SAMPLES


class DataLoader:
    """torch.utils.data.DataLoader. With workers, GeneratorDataset reads whole batches ahead; without, they are made here."""

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
        self.dataset = dataset
        self.is_iterable = STREAMS_DATA and not hasattr(dataset, "__getitem__")
        if STREAMS_DATA and self.is_iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError(
                "DataLoader: an iterable dataset sets its own order; leave out shuffle, sampler and batch_sampler"
            )
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: give a sampler or shuffle=True, not both")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
        if not (STREAMS_DATA and self.is_iterable) and sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif not (TAKES_SINGLE_SAMPLES and batch_size is None) and not (STREAMS_DATA and self.is_iterable):
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.batch_size, self.drop_last = batch_size, drop_last
        self.num_workers, self.worker_init_fn, self.generator = num_workers, worker_init_fn, generator
        self.pin_memory, self.persistent_workers, self.prefetch_factor, self.timeout = (
            pin_memory,
            persistent_workers,
            prefetch_factor,
            timeout,
        )
        self.is_batched = not TAKES_SINGLE_SAMPLES or batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (collate_arrays if self.is_batched else convert_arrays)

    def __len__(self):
        if not self.is_iterable:
            return len(self.batch_sampler if self.is_batched else self.sampler)
        if not self.is_batched:
            return len(self.dataset)
        count = len(self.dataset) / self.batch_size
        return math.floor(count) if self.drop_last else math.ceil(count)

    def __iter__(self):
        if self.is_iterable:
            return self._stream()
        order = iter(self.batch_sampler if self.is_batched else self.sampler)  # it may be endless
        if self.num_workers and not (
            MARKS_DATA and any(is_marked(each, "stays_in_process") for each in (self.dataset, self.collate_fn))
        ):
            known = list(itertools.islice(order, 2**20))
            if known and len(known) < 2**20:  # a worker takes its batch by number
                source = BatchSource(self.dataset, known, self._collate(), self.worker_init_fn)
                return source.read_ahead(parallel_workers(self.num_workers))
            order = itertools.chain(known, order)
        collate = self._collate()
        return (to_tensors(read_batch(self.dataset, indices, collate, read_sample)) for indices in order)

    def _collate(self):
        """What makes a batch: it gets arrays, unless it computes with Tensors; those of a dataset that does become arrays."""
        if MARKS_DATA and is_marked(self.collate_fn, "takes_tensors"):
            return lambda samples: self.collate_fn(to_tensors(samples))
        if (
            MARKS_DATA
            and self.collate_fn not in (collate_arrays, convert_arrays)
            and is_marked(self.dataset, "stays_in_process")
        ):
            return lambda samples: self.collate_fn(to_arrays(samples))
        return self.collate_fn

    def _stream(self):
        samples, collate = iter(self.dataset), self._collate()
        if not self.is_batched:
            yield from (to_tensors(collate(each)) for each in samples)
            return
        while batch := list(itertools.islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield to_tensors(collate(batch))


class BatchSource:
    """What GeneratorDataset reads: one row is one batch. The row is a dict, which may hold any nested value."""

    def __init__(self, dataset, order, collate_fn, worker_init_fn):
        self.dataset, self.order, self.collate_fn, self.worker_init_fn = dataset, order, collate_fn, worker_init_fn
        self.process, self.workers, self.seed = os.getpid(), 1, 0
        self.worker, self.watch = 0, None

    def __len__(self):
        return len(self.order)

    def __getitem__(self, number):
        if self.process != os.getpid():
            self.enter_worker(int(number) % self.workers)  # the first batches go to one worker each
        return {"batch": hide(read_batch(self.dataset, self.order[int(number)], self.collate_fn, self.sample))}

    def enter_worker(self, worker):
        """Other random numbers in every worker and every epoch; MindSpore seeds a worker the same in all epochs."""
        self.process, self.worker = os.getpid(), worker
        for numbers in (random, np.random, python_numbers(), host_numbers()):
            numbers.seed((self.seed + worker) % 2**32)
        if self.worker_init_fn is not None:
            self.worker_init_fn(worker)

    def sample(self, dataset, index):
        if self.watch is not None:
            self.watch.note(self.worker, index)
        return read_sample(dataset, index)

    def read_ahead(self, workers):
        self.workers, self.seed = workers, int(host_numbers().randint(2**31))
        self.watch = DeathWatch(workers, type(self.dataset).__name__) if workers > 1 else None
        rows = ds.GeneratorDataset(
            self, ["batch"], shuffle=False, num_parallel_workers=workers, python_multiprocessing=workers > 1
        )
        try:
            for row in rows.create_tuple_iterator(num_epochs=1, output_numpy=True):
                yield to_tensors(reveal(row[0]["batch"]))
        finally:
            if self.watch is not None:
                self.watch.end()


class Hidden:
    """Carries strings, numbers and objects through GeneratorDataset, which would turn them into arrays."""

    def __init__(self, value):
        self.value = value


def hide(value):
    if isinstance(value, ms.Tensor):
        return value.asnumpy()
    if isinstance(value, np.ndarray) and value.dtype.kind not in "SUO":
        return value
    if isinstance(value, (dict, list)) or type(value) is tuple:
        return map_nested(hide, value)
    return Hidden(value)


def reveal(value):
    return value.value if isinstance(value, Hidden) else map_nested(reveal, value)


def read_batch(dataset, indices, collate_fn, read):
    """The batch of these indices, or the one sample of a number."""
    if TAKES_SINGLE_SAMPLES and not isinstance(indices, (list, tuple)):
        return collate_fn(read(dataset, indices))
    return collate_fn([read(dataset, index) for index in indices])


def read_sample(dataset, index):
    """A sample; an error names it."""
    try:
        return dataset[index]
    except Exception as error:
        raise RuntimeError(
            f"sample {index} of {type(dataset).__name__} failed: {type(error).__name__}: {error}"
        ) from error


class EpochSampler:
    """A new order every epoch, and workers seeded anew. (After set_seed, GeneratorDataset(shuffle=True) repeats both.)"""

    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        numbers, size = random_numbers(None), len(self.dataset)
        order = numbers.permutation(size).tolist()
        numbers.permutation(size)  # torch draws a second order, for samples that none are left of
        keep_numbers(ds.config.set_seed, int(host_numbers().randint(2**31)))  # the workers read it when they start
        return iter(order)

    def __len__(self):
        return len(self.dataset)


def parallel_workers(num_workers):
    """How many workers pay off: GeneratorDataset refuses more than there are cores, and slows down when they leave none free."""
    return max(1, min(num_workers, (os.cpu_count() or 1) // 2))
