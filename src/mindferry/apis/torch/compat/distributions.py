"""torch.distributions over real numbers: the base class, Normal, Uniform, Laplace, Exponential and what is made from them."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .random import normal_numbers, uniform_numbers


def as_parameters(*values):
    """Numbers and tensors as tensors of one shape."""
    kinds = [each.dtype for each in values if isinstance(each, ms.Tensor)]
    tensors = [each if isinstance(each, ms.Tensor) else ms.Tensor(each, (kinds or [ms.float32])[0]) for each in values]
    shape = np.broadcast_shapes(*[each.shape for each in tensors])
    return [ops.broadcast_to(each, shape) if each.shape != shape else each for each in tensors]


def sum_rightmost(value, count):
    """The sum over the last `count` dimensions."""
    for _ in range(count):
        value = value.sum(-1)
    return value


class Distribution:
    """torch.distributions.Distribution: samples have sample_shape, batch_shape and event_shape one after another."""

    has_rsample = False

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self.batch_shape, self.event_shape = tuple(batch_shape), tuple(event_shape)

    @staticmethod
    def set_default_validate_args(value):
        """Arguments are not validated here."""

    def _extended_shape(self, sample_shape=()):
        return (*tuple(sample_shape), *self.batch_shape, *self.event_shape)

    def rsample(self, sample_shape=()):
        raise NotImplementedError(f"{type(self).__name__} has no samples with gradients")

    def sample(self, sample_shape=()):
        return ops.stop_gradient(self.rsample(sample_shape))

    def sample_n(self, n):
        return self.sample((n,))

    def log_prob(self, value):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return ops.sqrt(self.variance)

    def perplexity(self):
        return ops.exp(self.entropy())

    def __repr__(self):
        return f"{type(self).__name__}(batch_shape={self.batch_shape}, event_shape={self.event_shape})"


class ExponentialFamily(Distribution):
    """torch.distributions.ExponentialFamily."""


class NormalDistribution(ExponentialFamily):
    """torch.distributions.Normal."""

    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = as_parameters(loc, scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.scale * self.scale

    def rsample(self, sample_shape=()):
        return self.loc + self.scale * normal_numbers(self._extended_shape(sample_shape)).astype(self.loc.dtype)

    def log_prob(self, value):
        return -((value - self.loc) ** 2) / (2 * self.variance) - ops.log(self.scale) - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        return 0.5 * (1 + ops.erf((value - self.loc) / self.scale / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * ops.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + ops.log(self.scale)

    def expand(self, batch_shape):
        shape = tuple(batch_shape)
        return type(self)(ops.broadcast_to(self.loc, shape), ops.broadcast_to(self.scale, shape))


class LogNormalDistribution(Distribution):
    """torch.distributions.LogNormal."""

    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.base_dist = NormalDistribution(loc, scale)
        self.loc, self.scale = self.base_dist.loc, self.base_dist.scale
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        return ops.exp(self.loc + self.scale**2 / 2)

    @property
    def mode(self):
        return ops.exp(self.loc - self.scale**2)

    @property
    def variance(self):
        squared = self.scale**2
        return ops.expm1(squared) * ops.exp(2 * self.loc + squared)

    def rsample(self, sample_shape=()):
        return ops.exp(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        return self.base_dist.log_prob(ops.log(value)) - ops.log(value)

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class UniformDistribution(Distribution):
    """torch.distributions.Uniform."""

    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = as_parameters(low, high)
        super().__init__(self.low.shape)

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def stddev(self):
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self):
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape=()):
        share = uniform_numbers(self._extended_shape(sample_shape)).astype(self.low.dtype)
        return self.low + share * (self.high - self.low)

    def log_prob(self, value):
        inside = ops.logical_and(self.low <= value, value < self.high).astype(self.low.dtype)
        return ops.log(inside) - ops.log(self.high - self.low)

    def cdf(self, value):
        return ops.clamp((value - self.low) / (self.high - self.low), 0, 1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return ops.log(self.high - self.low)


class LaplaceDistribution(Distribution):
    """torch.distributions.Laplace."""

    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = as_parameters(loc, scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def variance(self):
        return 2 * self.scale**2

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()):
        u = uniform_numbers(self._extended_shape(sample_shape)).astype(self.loc.dtype) * 1.9999999 - 0.99999994
        return self.loc - self.scale * ops.sign(u) * ops.log1p(-ops.abs(u))

    def log_prob(self, value):
        return -ops.log(2 * self.scale) - ops.abs(value - self.loc) / self.scale

    def cdf(self, value):
        from_middle = value - self.loc
        return 0.5 - 0.5 * ops.sign(from_middle) * ops.expm1(-ops.abs(from_middle) / self.scale)

    def icdf(self, value):
        from_middle = value - 0.5
        return self.loc - self.scale * ops.sign(from_middle) * ops.log1p(-2 * ops.abs(from_middle))

    def entropy(self):
        return 1 + ops.log(2 * self.scale)


class ExponentialDistribution(ExponentialFamily):
    """torch.distributions.Exponential."""

    has_rsample = True

    def __init__(self, rate, validate_args=None):
        (self.rate,) = as_parameters(rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self):
        return 1 / self.rate

    @property
    def mode(self):
        return ops.zeros_like(self.rate)

    @property
    def stddev(self):
        return 1 / self.rate

    @property
    def variance(self):
        return self.rate**-2

    def rsample(self, sample_shape=()):
        u = uniform_numbers(self._extended_shape(sample_shape)).astype(self.rate.dtype)
        return -ops.log1p(-u * 0.9999999) / self.rate

    def log_prob(self, value):
        return ops.log(self.rate) - self.rate * value

    def cdf(self, value):
        return 1 - ops.exp(-self.rate * value)

    def icdf(self, value):
        return -ops.log1p(-value) / self.rate

    def entropy(self):
        return 1 - ops.log(self.rate)


class GumbelDistribution(Distribution):
    """torch.distributions.Gumbel."""

    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = as_parameters(loc, scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self):
        return self.loc + self.scale * 0.57721566490153286060

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return (math.pi**2 / 6) * self.scale**2

    def rsample(self, sample_shape=()):
        u = uniform_numbers(self._extended_shape(sample_shape)).astype(self.loc.dtype) * 0.9999998 + 1e-7
        return self.loc - self.scale * ops.log(-ops.log(u))

    def log_prob(self, value):
        y = (self.loc - value) / self.scale
        return y - ops.exp(y) - ops.log(self.scale)

    def entropy(self):
        return ops.log(self.scale) + 1.57721566490153286060


class IndependentDistribution(Distribution):
    """torch.distributions.Independent: the last batch dimensions belong to the event."""

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        split = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        super().__init__(shape[:split], shape[split:])

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def mode(self):
        return self.base_dist.mode

    @property
    def variance(self):
        return self.base_dist.variance

    @property
    def stddev(self):
        return self.base_dist.stddev

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)
