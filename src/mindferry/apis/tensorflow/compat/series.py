"""keras.preprocessing.sequence.TimeseriesGenerator of older programs."""

import numpy as np

from .files import PyDataset


class TimeseriesGenerator(PyDataset):
    """Batches of stretches of a series, each with the target that stands right behind it."""

    def __init__(
        self,
        data,
        targets,
        length,
        sampling_rate=1,
        stride=1,
        start_index=0,
        end_index=None,
        shuffle=False,
        reverse=False,
        batch_size=128,
    ):
        super().__init__()
        if len(data) != len(targets):
            raise ValueError(f"data has {len(data)} rows, and targets have {len(targets)}")
        self.data, self.targets, self.length, self.sampling_rate = data, targets, length, sampling_rate
        self.stride, self.shuffle, self.reverse, self.batch_size = stride, shuffle, reverse, batch_size
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index

    def __len__(self):
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index):
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            rows = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        samples = np.array([self.data[row - self.length : row : self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1] if self.reverse else samples), targets
