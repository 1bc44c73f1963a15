"""torch.distributions over classes and counts: Categorical, Bernoulli and their like, from probabilities or logits."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .distributions import Distribution, ExponentialFamily, as_parameters
from .functional_norm import log_softmax, softmax
from .functions_special import xlogy
from .random import multinomial, poisson, uniform_numbers


def clamp_probs(probs):
    """Away from zero and one, as far as the type can tell."""
    least = float(np.finfo(np.float64 if probs.dtype == ms.float64 else np.float32).eps)
    return ops.clamp(probs, least, 1 - least)


def cross_entropy_with_logits(logits, target):
    """-(t log p + (1 - t) log (1 - p)) without losing digits."""
    mirrored = ops.where(logits > 0, -logits, logits)  # not -abs(): that has no gradient at zero
    return ops.relu(logits) - logits * target + ops.log1p(ops.exp(mirrored))


class CategoricalDistribution(Distribution):
    """torch.distributions.Categorical."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdims=True)
            self.logits = ops.log(clamp_probs(self.probs))
        else:
            self.logits = log_softmax(logits, -1)
            self.probs = softmax(self.logits, -1)
        super().__init__(self.logits.shape[:-1])
        self._num_events = self.logits.shape[-1]

    @property
    def param_shape(self):
        return self.logits.shape

    @property
    def mean(self):
        return ops.full(self.batch_shape, float("nan"), dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self):
        return ops.argmax(self.probs, -1).astype(ms.int64)

    def sample(self, sample_shape=()):
        shape, count = self._extended_shape(sample_shape), int(np.prod(tuple(sample_shape)))
        picks = multinomial(self.probs.reshape((-1, self._num_events)), count, True)
        return picks.T.reshape(shape)

    def log_prob(self, value):
        value = value.astype(ms.int64)
        shape = np.broadcast_shapes(value.shape, self.batch_shape)
        logits = ops.broadcast_to(self.logits, (*shape, self._num_events))
        index = ops.broadcast_to(value, shape).expand_dims(-1)
        return ops.gather_elements(logits, len(shape), index).squeeze(-1)

    def entropy(self):
        least = float(np.finfo(np.float32).min)
        return -(ops.clamp(self.logits, least) * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = ops.arange(self._num_events).astype(ms.int64).reshape((-1, *[1] * len(self.batch_shape)))
        return ops.broadcast_to(values, (self._num_events, *self.batch_shape)) if expand else values


class OneHotCategoricalDistribution(Distribution):
    """torch.distributions.OneHotCategorical."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = CategoricalDistribution(probs, logits)
        self.probs, self.logits = self._categorical.probs, self._categorical.logits
        super().__init__(self.probs.shape[:-1], self.probs.shape[-1:])

    @property
    def mean(self):
        return self.probs

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    @property
    def mode(self):
        return self._one_hot(self._categorical.mode)

    def _one_hot(self, index):
        classes = ops.arange(self.event_shape[0]).astype(ms.int64)
        return (index.expand_dims(-1) == classes).astype(self.probs.dtype)

    def sample(self, sample_shape=()):
        return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value):
        return self._categorical.log_prob(ops.argmax(value, -1))

    def entropy(self):
        return self._categorical.entropy()


class OneHotCategoricalStraightThrough(OneHotCategoricalDistribution):
    """torch.distributions.OneHotCategoricalStraightThrough: the gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape=()):
        return self.sample(sample_shape) + (self.probs - ops.stop_gradient(self.probs))


class BernoulliDistribution(ExponentialFamily):
    """torch.distributions.Bernoulli."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (self.probs,) = as_parameters(probs)
            kept = clamp_probs(self.probs)
            self.logits = ops.log(kept) - ops.log1p(-kept)
        else:
            (self.logits,) = as_parameters(logits)
            self.probs = ops.sigmoid(self.logits)
        super().__init__(self.probs.shape)

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return (self.probs >= 0.5).astype(self.probs.dtype)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        return (uniform_numbers(self._extended_shape(sample_shape)) < self.probs).astype(self.probs.dtype)

    def log_prob(self, value):
        return -cross_entropy_with_logits(self.logits, value)

    def entropy(self):
        return cross_entropy_with_logits(self.logits, self.probs)


class BinomialDistribution(Distribution):
    """torch.distributions.Binomial."""

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        single = BernoulliDistribution(probs, logits)
        self.total_count, self.probs, self.logits = as_parameters(total_count, single.probs, single.logits)
        super().__init__(self.probs.shape)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        count = np.broadcast_to(self.total_count.asnumpy().astype(np.int64), shape)
        rounds = int(count.max()) if count.size else 0
        hits = [
            (uniform_numbers(shape) < self.probs).astype(self.probs.dtype) * ms.Tensor(count > each, self.probs.dtype)
            for each in range(rounds)
        ]
        return sum(hits) if hits else ops.zeros(shape, self.probs.dtype)

    def log_prob(self, value):
        count = self.total_count.astype(self.probs.dtype)
        ways = ops.lgamma(count + 1) - ops.lgamma(value + 1) - ops.lgamma(count - value + 1)
        mirrored = ops.where(self.logits > 0, -self.logits, self.logits)
        return ways + value * self.logits - count * (ops.relu(self.logits) + ops.log1p(ops.exp(mirrored)))


class GeometricDistribution(Distribution):
    """torch.distributions.Geometric: failures before the first success."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        single = BernoulliDistribution(probs, logits)
        self.probs, self.logits = single.probs, single.logits
        super().__init__(self.probs.shape)

    @property
    def mean(self):
        return 1 / self.probs - 1

    @property
    def variance(self):
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape=()):
        u = uniform_numbers(self._extended_shape(sample_shape)) * 0.9999999 + 1e-7
        return ops.floor(ops.log(u) / ops.log1p(-self.probs))

    def log_prob(self, value):
        return value * ops.log1p(-clamp_probs(self.probs)) + ops.log(self.probs)

    def entropy(self):
        return cross_entropy_with_logits(self.logits, self.probs) / self.probs


class PoissonDistribution(ExponentialFamily):
    """torch.distributions.Poisson."""

    def __init__(self, rate, validate_args=None):
        (self.rate,) = as_parameters(rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self):
        return self.rate

    variance = mean

    def sample(self, sample_shape=()):
        return poisson(ops.broadcast_to(self.rate, self._extended_shape(sample_shape)))

    def log_prob(self, value):
        return xlogy(value, self.rate) - self.rate - ops.lgamma(value + 1)
