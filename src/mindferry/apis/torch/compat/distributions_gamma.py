"""torch.distributions made from gamma variates: Gamma, Beta, Dirichlet, Chi2, StudentT, with gradients through their samples."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .distributions import Distribution, ExponentialFamily, as_parameters
from .functions_special import xlogy
from .random import host_random, normal_numbers


def standard_gamma(concentration):
    """Gamma variates with torch's gradient: -dF/da divided by the density, F being the cumulative distribution."""
    drawn = host_random().standard_gamma(concentration.asnumpy().astype(np.float64))
    value = ms.Tensor(np.maximum(drawn, np.finfo(np.float32).tiny), concentration.dtype)
    fixed = ops.stop_gradient(concentration)
    density = ops.exp((fixed - 1) * ops.log(value) - value - ops.lgamma(fixed))
    cumulative = ops.igamma(concentration, value)
    return value - (cumulative - ops.stop_gradient(cumulative)) / density


class GammaDistribution(ExponentialFamily):
    """torch.distributions.Gamma."""

    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = as_parameters(concentration, rate)
        super().__init__(self.concentration.shape)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ops.clamp((self.concentration - 1) / self.rate, 0)

    @property
    def variance(self):
        return self.concentration / self.rate**2

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return standard_gamma(ops.broadcast_to(self.concentration, shape)) / ops.broadcast_to(self.rate, shape)

    def log_prob(self, value):
        kept = xlogy(self.concentration, self.rate) + xlogy(self.concentration - 1, value)
        return kept - self.rate * value - ops.lgamma(self.concentration)

    def entropy(self):
        a = self.concentration
        return a - ops.log(self.rate) + ops.lgamma(a) + (1 - a) * ops.digamma(a)

    def cdf(self, value):
        return ops.igamma(self.concentration, self.rate * value)


class Chi2Distribution(GammaDistribution):
    """torch.distributions.Chi2."""

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5)

    @property
    def df(self):
        return self.concentration * 2


class DirichletDistribution(ExponentialFamily):
    """torch.distributions.Dirichlet."""

    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    @property
    def mean(self):
        return self.concentration / self.concentration.sum(-1, keepdims=True)

    @property
    def variance(self):
        total, mean = self.concentration.sum(-1, keepdims=True), self.mean
        return mean * (1 - mean) / (total + 1)

    def rsample(self, sample_shape=()):
        drawn = standard_gamma(ops.broadcast_to(self.concentration, self._extended_shape(sample_shape)))
        return drawn / drawn.sum(-1, keepdims=True)

    def log_prob(self, value):
        a = self.concentration
        return xlogy(a - 1, value).sum(-1) + ops.lgamma(a.sum(-1)) - ops.lgamma(a).sum(-1)

    def entropy(self):
        a, count = self.concentration, self.event_shape[0]
        total = a.sum(-1)
        weighed = ((a - 1) * ops.digamma(a)).sum(-1)
        return ops.lgamma(a).sum(-1) - ops.lgamma(total) - (count - total) * ops.digamma(total) - weighed


class BetaDistribution(ExponentialFamily):
    """torch.distributions.Beta."""

    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = as_parameters(concentration1, concentration0)
        super().__init__(self.concentration1.shape)

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return (self.concentration1 - 1) / (self.concentration1 + self.concentration0 - 2)

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        one = standard_gamma(ops.broadcast_to(self.concentration1, shape))
        return one / (one + standard_gamma(ops.broadcast_to(self.concentration0, shape)))

    def log_prob(self, value):
        a, b = self.concentration1, self.concentration0
        kept = xlogy(a - 1, value) + xlogy(b - 1, 1 - value)
        return kept + ops.lgamma(a + b) - ops.lgamma(a) - ops.lgamma(b)

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        weighed = (a - 1) * ops.digamma(a) + (b - 1) * ops.digamma(b) - (a + b - 2) * ops.digamma(a + b)
        return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b) - weighed


class StudentTDistribution(Distribution):
    """torch.distributions.StudentT."""

    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = as_parameters(df, loc, scale)
        super().__init__(self.df.shape)

    @property
    def mean(self):
        return ops.where(self.df > 1, self.loc, ops.full_like(self.loc, float("nan")))

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        known = self.scale**2 * self.df / ops.where(self.df > 2, self.df - 2, ops.ones_like(self.df))
        wide = ops.where(self.df > 2, known, ops.full_like(known, float("inf")))
        return ops.where(self.df > 1, wide, ops.full_like(known, float("nan")))

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        chi2 = 2 * standard_gamma(ops.broadcast_to(0.5 * self.df, shape))
        drawn = normal_numbers(shape).astype(self.df.dtype) * ops.rsqrt(chi2 / self.df)
        return self.loc + self.scale * drawn

    def log_prob(self, value):
        y = (value - self.loc) / self.scale
        constant = (
            ops.log(self.scale)
            + 0.5 * ops.log(self.df)
            + 0.5 * math.log(math.pi)
            + ops.lgamma(0.5 * self.df)
            - ops.lgamma(0.5 * (self.df + 1))
        )
        return -0.5 * (self.df + 1) * ops.log1p(y**2 / self.df) - constant

    def entropy(self):
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = ops.lgamma(half) + math.lgamma(0.5) - ops.lgamma(more)
        return ops.log(self.scale) + more * (ops.digamma(more) - ops.digamma(half)) + 0.5 * ops.log(self.df) + beta
