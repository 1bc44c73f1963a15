"""A DataLoader for projects that give it a dataset that can be indexed, and neither samplers nor workers. data_loader.py has all of it."""

import math

from .data_collate import collate_arrays, to_tensors
from .data_samplers import random_numbers


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
        self.collate_fn = collate_fn or collate_arrays

    def __len__(self):
        count = len(self.dataset) / self.batch_size
        return math.floor(count) if self.drop_last else math.ceil(count)

    def __iter__(self):
        numbers, size = random_numbers(None), len(self.dataset)
        order = numbers.permutation(size).tolist() if self.shuffle else range(size)
        for start in range(0, len(self) * self.batch_size, self.batch_size):
            samples = [self.dataset[index] for index in order[start : start + self.batch_size]]
            yield to_tensors(self.collate_fn(samples))
        if self.shuffle:
            numbers.permutation(size)  # torch draws a second order, for samples that none are left of
