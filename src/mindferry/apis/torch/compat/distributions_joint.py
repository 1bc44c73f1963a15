"""torch.distributions over vectors and through functions: MultivariateNormal, MixtureSameFamily, TransformedDistribution."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .distributions import Distribution, sum_rightmost
from .functional_norm import log_softmax, tanh
from .functions_reduce import logsumexp
from .linalg import cholesky, solve_triangular
from .random import normal_numbers


def matrix_diagonal(matrix):
    """The diagonals of matrices in the last two dimensions."""
    eye = ms.Tensor(np.eye(matrix.shape[-1]), matrix.dtype)
    return (matrix * eye).sum(-1)


def inverse_of_lower(lower):
    eye = ops.broadcast_to(ms.Tensor(np.eye(lower.shape[-1]), lower.dtype), lower.shape)
    return solve_triangular(lower, eye, False)


class MultivariateNormalDistribution(Distribution):
    """torch.distributions.MultivariateNormal."""

    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if sum(each is not None for each in (covariance_matrix, precision_matrix, scale_tril)) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        if covariance_matrix is not None:
            scale_tril = cholesky(covariance_matrix)
        elif precision_matrix is not None:
            inverse = inverse_of_lower(cholesky(precision_matrix))
            scale_tril = cholesky(ops.matmul(inverse.swapaxes(-1, -2), inverse))
        shape = np.broadcast_shapes(scale_tril.shape[:-1], loc.shape)
        self.loc = ops.broadcast_to(loc, shape)
        self.scale_tril = ops.broadcast_to(scale_tril, (*shape, shape[-1]))
        super().__init__(shape[:-1], shape[-1:])

    @property
    def covariance_matrix(self):
        return ops.matmul(self.scale_tril, self.scale_tril.swapaxes(-1, -2))

    @property
    def precision_matrix(self):
        inverse = inverse_of_lower(self.scale_tril)
        return ops.matmul(inverse.swapaxes(-1, -2), inverse)

    @property
    def mean(self):
        return self.loc

    mode = mean

    @property
    def variance(self):
        return (self.scale_tril**2).sum(-1)

    def rsample(self, sample_shape=()):
        drawn = normal_numbers(self._extended_shape(sample_shape)).astype(self.loc.dtype)
        return self.loc + ops.matmul(self.scale_tril, drawn.expand_dims(-1)).squeeze(-1)

    def log_prob(self, value):
        difference = value - self.loc
        lower = ops.broadcast_to(self.scale_tril, (*difference.shape, difference.shape[-1]))
        scaled = solve_triangular(lower, difference.expand_dims(-1), False).squeeze(-1)
        logs = ops.log(matrix_diagonal(self.scale_tril)).sum(-1)
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + (scaled**2).sum(-1)) - logs

    def entropy(self):
        logs = ops.log(matrix_diagonal(self.scale_tril)).sum(-1)
        return 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi)) + logs


class MixtureSameFamilyDistribution(Distribution):
    """torch.distributions.MixtureSameFamily: the last batch dimension of the components is that of the mixture."""

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape)

    def _weights(self):
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *[1] * len(self.event_shape)))

    @property
    def mean(self):
        return (self._weights() * self.component_distribution.mean).sum(-1 - len(self.event_shape))

    @property
    def variance(self):
        axis = -1 - len(self.event_shape)
        within = (self._weights() * self.component_distribution.variance).sum(axis)
        spread = self.component_distribution.mean - self.mean.expand_dims(axis)
        return within + (self._weights() * spread**2).sum(axis)

    def sample(self, sample_shape=()):
        axis = len(sample_shape) + len(self.batch_shape)
        picks = self.mixture_distribution.sample(sample_shape)
        drawn = self.component_distribution.sample(sample_shape)
        classes = ops.arange(drawn.shape[axis]).astype(ms.int64)
        chosen = (picks.expand_dims(-1) == classes).astype(drawn.dtype)
        return (drawn * chosen.reshape((*chosen.shape, *[1] * len(self.event_shape)))).sum(axis)

    def log_prob(self, value):
        each = self.component_distribution.log_prob(value.expand_dims(-1 - len(self.event_shape)))
        return logsumexp(each + log_softmax(self.mixture_distribution.logits, -1), -1)


class AffineTransform:
    """torch.distributions.transforms.AffineTransform."""

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    def __call__(self, x):
        return self.loc + self.scale * x

    def inv(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale if isinstance(self.scale, ms.Tensor) else ms.Tensor(float(self.scale), x.dtype)
        return sum_rightmost(ops.broadcast_to(ops.log(ops.abs(scale)), x.shape), self.event_dim)


class ExpTransform:
    """torch.distributions.transforms.ExpTransform."""

    event_dim = 0

    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        return ops.exp(x)

    def inv(self, y):
        return ops.log(y)

    def log_abs_det_jacobian(self, x, y):
        return x


class SigmoidTransform:
    """torch.distributions.transforms.SigmoidTransform."""

    event_dim = 0

    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        return ops.sigmoid(x)

    def inv(self, y):
        y = ops.clamp(y, 1.1754943508222875e-38, 1 - 1.1920929e-07)
        return ops.log(y) - ops.log1p(-y)

    def log_abs_det_jacobian(self, x, y):
        return -ops.softplus(-x) - ops.softplus(x)


class TanhTransform:
    """torch.distributions.transforms.TanhTransform."""

    event_dim = 0

    def __init__(self, cache_size=0):
        pass

    def __call__(self, x):
        return tanh(x)

    def inv(self, y):
        return ops.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - ops.softplus(-2.0 * x))


class ComposeTransform:
    """torch.distributions.transforms.ComposeTransform."""

    def __init__(self, parts, cache_size=0):
        self.parts = list(parts)
        self.event_dim = max([each.event_dim for each in self.parts], default=0)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def inv(self, y):
        for part in self.parts[::-1]:
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = 0
        for part in self.parts:
            after = part(x)
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim)
            x = after
        return total


class TransformedDistribution(Distribution):
    """torch.distributions.TransformedDistribution."""

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.base_dist = base_distribution
        self.transforms = list(transforms) if isinstance(transforms, (list, tuple)) else [transforms]
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape)

    @property
    def has_rsample(self):
        return self.base_dist.has_rsample

    def sample(self, sample_shape=()):
        return ops.stop_gradient(self._forward(self.base_dist.sample(sample_shape)))

    def rsample(self, sample_shape=()):
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x):
        for each in self.transforms:
            x = each(x)
        return x

    def log_prob(self, value):
        total, event = 0.0, len(self.event_shape)
        for each in self.transforms[::-1]:
            before = each.inv(value)
            total = total - sum_rightmost(each.log_abs_det_jacobian(before, value), event - each.event_dim)
            value = before
        return total + self.base_dist.log_prob(value)
