"""Normalization with torch's arguments and names."""

import math

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from .layers_module import register_buffer, reset_layer


def first_count(momentum):
    """Where there is no momentum, the batches are counted: torch averages over all of them."""
    return 0 if momentum is None else None


class BatchNorm1d(nn.BatchNorm1d):
    """mindspore.nn.BatchNorm1d with torch's arguments: momentum is the share of the new value, None an average over all batches."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__(
            num_features,
            min(float(eps), 1.0),
            1.0 - (momentum or 0.0),
            affine,
            use_batch_statistics=None if track_running_stats else True,
        )
        self.eps, self.beta.requires_grad, self.lacks_bias = float(eps), bool(affine and bias), not bias
        self.affine, self.track_running_stats, self.batches = (
            affine,
            track_running_stats,
            first_count(momentum),
        )

    def construct(self, input):
        if self.batches is not None and self.training and self.track_running_stats:
            self.batches += 1
            ops.assign(self.moving_mean, cumulate(self.moving_mean, input, self.batches, False))
            ops.assign(self.moving_variance, cumulate(self.moving_variance, input, self.batches, True))
        return nn.BatchNorm1d.construct(self, input) if self.eps <= 1 else normalize_widely(self, input)


class BatchNorm2d(nn.BatchNorm2d):
    """mindspore.nn.BatchNorm2d with torch's arguments: momentum is the share of the new value, None an average over all batches."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__(
            num_features,
            min(float(eps), 1.0),
            1.0 - (momentum or 0.0),
            affine,
            use_batch_statistics=None if track_running_stats else True,
        )
        self.eps, self.beta.requires_grad, self.lacks_bias = float(eps), bool(affine and bias), not bias
        self.affine, self.track_running_stats, self.batches = (
            affine,
            track_running_stats,
            first_count(momentum),
        )

    def construct(self, input):
        if self.batches is not None and self.training and self.track_running_stats:
            self.batches += 1
            ops.assign(self.moving_mean, cumulate(self.moving_mean, input, self.batches, False))
            ops.assign(self.moving_variance, cumulate(self.moving_variance, input, self.batches, True))
        return nn.BatchNorm2d.construct(self, input) if self.eps <= 1 else normalize_widely(self, input)


def normalize_widely(cell, x):
    """A batch norm whose eps is more than one, which MindSpore's operator refuses."""
    axes, shape = (0, *range(2, x.ndim)), (1, -1) + (1,) * (x.ndim - 2)
    mean, variance = cell.moving_mean.reshape(shape), cell.moving_variance.reshape(shape)
    if cell.training or not cell.track_running_stats:
        mean, old_mean, old_variance = x.mean(axes, keep_dims=True), cell.moving_mean, cell.moving_variance
        variance = ((x - mean) ** 2).mean(axes, keep_dims=True)
        if cell.track_running_stats and cell.batches is None:
            count = math.prod([x.shape[axis] for axis in axes])
            unbiased = variance.reshape(-1) * count / max(count - 1, 1)
            share = cell.momentum  # of the new value: MindSpore's layer turns its argument round
            ops.assign(old_mean, ops.stop_gradient(old_mean + share * (mean.reshape(-1) - old_mean)))
            ops.assign(old_variance, ops.stop_gradient(old_variance + share * (unbiased - old_variance)))
    scaled = (x - mean) * ops.rsqrt(variance + cell.eps)
    return scaled * cell.gamma.reshape(shape) + cell.beta.reshape(shape)


def cumulate(running, x, count, is_variance):
    """The running mean or unbiased variance after the `count`-th batch, all batches weighing the same."""
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    new = ops.var(x, axes, ddof=1) if is_variance else x.mean(axes)
    return ops.stop_gradient(running + (new - running) / count)


class BatchNorm3d(nn.BatchNorm3d):
    """mindspore.nn.BatchNorm3d with torch's arguments. Its parameters are those of the two-dimensional one that it holds."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__(num_features, min(float(eps), 1.0))
        self.bn2d = BatchNorm2d(num_features, eps, momentum, affine, track_running_stats, bias=bias)
        self.num_features, self.eps, self.momentum, self.affine = num_features, eps, momentum, affine


class SyncBatchNorm(nn.Cell):
    """torch.nn.SyncBatchNorm on one device: a batch norm for any number of axes."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum, self.track_running_stats = (
            num_features,
            eps,
            momentum,
            track_running_stats,
        )
        self.weight = ms.Parameter(ops.ones((num_features,))) if affine else None
        self.bias = ms.Parameter(ops.zeros((num_features,))) if affine else None
        register_buffer(self, "running_mean", ops.zeros((num_features,)) if track_running_stats else None)
        register_buffer(self, "running_var", ops.ones((num_features,)) if track_running_stats else None)

    def reset_parameters(self):
        reset_layer(self)

    def construct(self, input):
        return normalize_tracked(self, input, (0, *range(2, input.ndim)))


def normalize_tracked(cell, x, axes):
    """Normalize over axes, keeping running statistics if the cell has them, and scale if it has a weight."""
    shape = (1, -1) + (1,) * (x.ndim - 2)
    if cell.running_mean is None or cell.training:
        mean = x.mean(axes, keep_dims=True)
        variance = ((x - mean) ** 2).mean(axes, keep_dims=True)
        if cell.running_mean is not None:
            count = math.prod([x.shape[axis] for axis in axes])
            keep = 1 - cell.momentum
            new_mean = mean.mean(0).reshape((-1,)) if 0 not in axes else mean.reshape((-1,))
            new_variance = (variance.mean(0) if 0 not in axes else variance).reshape((-1,)) * count / max(count - 1, 1)
            ops.assign(cell.running_mean, ops.stop_gradient(cell.running_mean * keep + new_mean * cell.momentum))
            ops.assign(cell.running_var, ops.stop_gradient(cell.running_var * keep + new_variance * cell.momentum))
    else:
        mean, variance = cell.running_mean.reshape(shape), cell.running_var.reshape(shape)
    x = (x - mean) * ops.rsqrt(variance + cell.eps)
    if cell.weight is not None:
        x = x * cell.weight.reshape(shape)
    return x + cell.bias.reshape(shape) if cell.bias is not None else x


class InstanceNorm(nn.Cell):
    """Each channel of each sample by itself; from operators that every device has."""

    def __init__(
        self,
        rank,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__()
        self.rank, self.num_features, self.eps, self.momentum = rank, num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = ms.Parameter(ops.ones((num_features,))) if affine else None
        self.bias = ms.Parameter(ops.zeros((num_features,))) if affine and bias else None
        register_buffer(self, "running_mean", ops.zeros((num_features,)) if track_running_stats else None)
        register_buffer(self, "running_var", ops.ones((num_features,)) if track_running_stats else None)

    def reset_parameters(self):
        reset_layer(self)

    def construct(self, input):
        if input.ndim == self.rank + 1:
            return normalize_tracked(self, input.expand_dims(0), tuple(range(2, input.ndim + 1))).squeeze(0)
        return normalize_tracked(self, input, tuple(range(2, input.ndim)))


class InstanceNorm1d(InstanceNorm):
    """torch.nn.InstanceNorm1d."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__(1, num_features, eps, momentum, affine, track_running_stats, bias=bias)


class InstanceNorm2d(InstanceNorm):
    """torch.nn.InstanceNorm2d."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__(2, num_features, eps, momentum, affine, track_running_stats, bias=bias)


class InstanceNorm3d(InstanceNorm):
    """torch.nn.InstanceNorm3d."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        bias=True,
    ):
        super().__init__(3, num_features, eps, momentum, affine, track_running_stats, bias=bias)


class LayerNorm(nn.LayerNorm):
    """mindspore.nn.LayerNorm with torch's arguments: any number of axes, with or without scale and shift."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (int(normalized_shape),)
        super().__init__(shape, epsilon=float(eps), dtype=dtype or ms.float32)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.gamma.requires_grad = bool(elementwise_affine)
        self.beta.requires_grad, self.lacks_bias = bool(elementwise_affine and bias), not bias

    def construct(self, input):
        if not input.size:
            return input
        if len(self.normalized_shape) == 1:
            return nn.LayerNorm.construct(self, input)
        axes = tuple(range(input.ndim - len(self.normalized_shape), input.ndim))
        centred = input - input.mean(axes, keep_dims=True)
        return centred * ops.rsqrt((centred**2).mean(axes, keep_dims=True) + self.eps) * self.gamma + self.beta


class GroupNorm(nn.GroupNorm):
    """mindspore.nn.GroupNorm with torch's arguments."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, bias=True):
        super().__init__(num_groups, num_channels, float(eps), affine, dtype=dtype or ms.float32)
        self.affine, self.lacks_bias = affine, not bias
        self.beta.requires_grad = bool(affine and bias)


class RMSNorm(nn.Cell):
    """torch.nn.RMSNorm; eps defaults to the smallest step of the input's type."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (
            tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
        )
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.least = float(np.finfo(np.float32).eps) if eps is None else eps
        self.weight = ms.Parameter(ops.ones(self.normalized_shape, dtype or ms.float32)) if elementwise_affine else None

    def reset_parameters(self):
        reset_layer(self)

    def construct(self, input):
        if not input.size:
            return input
        axes = tuple(range(input.ndim - len(self.normalized_shape), input.ndim))
        x = input * ops.rsqrt((input * input).mean(axes, keep_dims=True) + self.least)
        return x * self.weight if self.weight is not None else x


class LocalResponseNorm(nn.Cell):
    """torch.nn.LocalResponseNorm: divides by the mean square of neighbouring channels, beyond the edge zero."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def construct(self, input):
        channels = input.shape[1]
        zeros = ops.zeros((input.shape[0], self.size // 2, *input.shape[2:]), input.dtype)
        padded = ops.cat((zeros, input * input, zeros), 1) if self.size > 1 else input * input
        total = padded[:, 0:channels]
        for start in range(1, self.size):
            total = total + padded[:, start : start + channels]
        return input / ops.pow(total / self.size * self.alpha + self.k, self.beta)


class BatchCount:
    """torch's num_batches_tracked, for a norm that counts by itself; it is no part of a checkpoint."""

    def __get__(self, cell, owner=None):
        if cell is None or not cell.track_running_stats:
            return None
        if cell.batches is not None:
            raise NotImplementedError("momentum=None: a norm that counts its own batches needs a momentum in MindSpore")
        return cell.__dict__.setdefault("batches_seen", ms.Tensor(0, ms.int64))

    def __set__(self, cell, value):
        cell.__dict__["batches_seen"] = value


def counts_batches(kind):
    """A class that derives from a batch norm and counts its batches."""
    kind.num_batches_tracked = BatchCount()
    return kind
