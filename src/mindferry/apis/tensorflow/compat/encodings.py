"""Layers that turn numbers and categories into codes: one-hot, counts, bins."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .layers_base import Layer
from .tensors import as_dtype, as_tensor


def encoded(indices, mode, depth, dtype=ms.float32, weights=None):
    """Whole numbers as they are ("int"), one-hot, or what a sample has of each ("multi_hot", "count")."""
    if mode == "int":
        return ops.cast(indices, dtype)
    if indices.ndim == 0:
        indices = ops.expand_dims(indices, 0)
    if mode == "one_hot" and indices.ndim > 1 and indices.shape[-1] == 1:
        indices = ops.squeeze(indices, -1)
    places = ops.arange(depth).astype(indices.dtype)
    codes = ops.cast(ops.equal(ops.expand_dims(indices, -1), places), ms.float32)
    axis = 1 if indices.ndim > 1 else 0
    if mode == "multi_hot":
        codes = ops.amax(codes, axis)
    elif mode == "count":
        codes = ops.sum(codes if weights is None else codes * ops.expand_dims(weights, -1), axis)
    return ops.cast(codes, dtype)


class CategoryEncoding(Layer):
    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        super().__init__(**kwargs)
        self.num_tokens, self.output_mode = num_tokens, "multi_hot" if output_mode == "binary" else output_mode

    def call(self, inputs, count_weights=None, training=None):
        weights = None if count_weights is None else as_tensor(count_weights, ms.float32)
        inputs = ops.cast(as_tensor(inputs), ms.int64)
        return encoded(inputs, self.output_mode, self.num_tokens, as_dtype(self.dtype), weights)


class Discretization(Layer):
    """The number of the bin that a value is in; the bins are given, or those of the data that it is adapted to."""

    def __init__(
        self,
        bin_boundaries=None,
        num_bins=None,
        epsilon=0.01,
        output_mode="int",
        sparse=False,
        dtype=None,
        name=None,
    ):
        super().__init__(name=name, dtype=dtype)
        self.num_bins, self.epsilon, self.output_mode = num_bins, epsilon, output_mode
        self.bin_boundaries = None if bin_boundaries is None else [float(each) for each in bin_boundaries]

    def adapt(self, data, steps=None):
        whole = isinstance(data, (np.ndarray, Tensor))
        summary = np.zeros((2, 0), np.float32)
        for number, batch in enumerate([data] if whole else data):
            if steps is not None and number >= steps:
                break
            values = np.sort(np.asarray(batch.asnumpy() if isinstance(batch, Tensor) else batch, np.float32), None)
            step = max(values.size * self.epsilon, 1)
            kept = values[int(step - 1) :: int(step)]
            joint = np.concatenate((np.stack([kept, np.full_like(kept, step)]), summary), 1)
            summary = compressed(joint[:, np.argsort(joint[0])], self.epsilon)
        self.bin_boundaries = compressed(summary, 1 / self.num_bins)[0, :-1].tolist()

    def call(self, inputs, training=None):
        if self.bin_boundaries is None:
            raise ValueError("give the layer bin_boundaries, or call adapt before it is used")
        inputs = ops.cast(as_tensor(inputs), ms.float32)
        above = ops.expand_dims(inputs, -1) >= as_tensor(self.bin_boundaries, ms.float32)
        bins = ops.sum(ops.cast(above, ms.int32), -1)
        kind = ms.int32 if self.output_mode == "int" else as_dtype(self.dtype)
        return encoded(bins, self.output_mode, len(self.bin_boundaries) + 1, kind)


def compressed(summary, epsilon):
    """(values, weights) with fewer values: as many as shares of `epsilon` make one."""
    if summary.shape[1] * epsilon < 1:
        return summary
    shares = epsilon + np.arange(0.0, 1.0, epsilon)
    sums = summary[1].cumsum()
    values = np.interp(shares, sums / sums[-1], summary[0])
    weights = np.diff(np.interp(shares, sums / sums[-1], sums), prepend=0)
    return np.stack((values, weights)).astype(np.float32)
