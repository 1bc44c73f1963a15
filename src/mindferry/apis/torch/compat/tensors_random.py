"""Random numbers in the shape and type of a tensor, with torch's arguments."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .tensors import in_shape_of


class Generator(ms.Generator):
    """torch.Generator: takes a device, which has no meaning here, and tells that its numbers are the host's."""

    device = "CPU"

    def __init__(self, device=None):
        super().__init__()


def copied(x, source):
    """What x.copy_(source) puts into x: values in memory of their own, which a parameter's next step leaves alone."""
    source = in_shape_of(x, source if isinstance(source, ms.Tensor) else ms.Tensor(source)).astype(x.dtype)
    return ops.deepcopy(source if source.shape == x.shape else ops.broadcast_to(source, x.shape))


def fill_diagonal(x, fill_value, wrap=False):
    """What x.fill_diagonal_(fill_value) puts into x."""
    mask = np.zeros(x.shape, np.bool_)
    np.fill_diagonal(mask, True, wrap=wrap)
    return ops.where(ms.Tensor(mask), ops.full_like(x, fill_value), x)


def normal_like(x, mean=0.0, std=1.0):
    return (ops.standard_normal(x.shape) * std + mean).astype(x.dtype)


def uniform_like(x, low=0.0, high=1.0):
    return (ops.rand(x.shape) * (high - low) + low).astype(x.dtype)


def random_like(x, low=0, high=None):
    """Whole numbers from low up to high; one number alone is high; none: what the type holds exactly."""
    if high is None:
        low, high = (0, low) if low else (0, 2**24)
    return ops.floor(uniform_like(x.astype(ms.float32), low, high)).astype(x.dtype)


def bernoulli_like(x, p=0.5):
    return (ops.rand(x.shape) < p).astype(x.dtype)


def exponential_like(x, lambd=1.0):
    return (-ops.log(1.0 - ops.rand(x.shape)) / lambd).astype(x.dtype)


def cauchy_like(x, median=0.0, sigma=1.0):
    return (median + sigma * ops.tan(math.pi * (ops.rand(x.shape) - 0.5))).astype(x.dtype)


def geometric_like(x, p):
    """The number of tries up to the first success."""
    return ops.ceil(ops.log(1.0 - ops.rand(x.shape)) / math.log(1 - p)).clamp(min=1).astype(x.dtype)


def log_normal_like(x, mean=1.0, std=2.0):
    return ops.exp(normal_like(x, mean, std))
