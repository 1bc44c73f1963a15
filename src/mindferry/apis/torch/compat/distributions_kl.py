"""torch.distributions.kl_divergence between two distributions of the same kind."""

from mindspore import ops

from .distributions import (
    ExponentialDistribution,
    IndependentDistribution,
    LaplaceDistribution,
    NormalDistribution,
    UniformDistribution,
    sum_rightmost,
)
from .distributions_discrete import BernoulliDistribution, CategoricalDistribution, OneHotCategoricalDistribution
from .distributions_gamma import BetaDistribution, DirichletDistribution, GammaDistribution
from .distributions_joint import MultivariateNormalDistribution, matrix_diagonal
from .linalg import solve_triangular


def kl_divergence(p, q):
    """torch.distributions.kl_divergence, in closed form."""
    for kind, formula in (
        (NormalDistribution, kl_normal),
        (CategoricalDistribution, kl_categorical),
        (OneHotCategoricalDistribution, kl_categorical),
        (BernoulliDistribution, kl_bernoulli),
        (BetaDistribution, kl_beta),
        (GammaDistribution, kl_gamma),
        (DirichletDistribution, kl_dirichlet),
        (MultivariateNormalDistribution, kl_multivariate_normal),
        (UniformDistribution, kl_uniform),
        (LaplaceDistribution, kl_laplace),
        (ExponentialDistribution, kl_exponential),
    ):
        if isinstance(p, kind) and isinstance(q, kind):
            return formula(p, q)
    if isinstance(p, IndependentDistribution) and isinstance(q, IndependentDistribution):
        return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


def kl_normal(p, q):
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ops.log(ratio))


def kl_categorical(p, q):
    return (p.probs * (p.logits - q.logits)).sum(-1)


def kl_bernoulli(p, q):
    def softplus(x):
        return ops.relu(x) + ops.log1p(ops.exp(ops.where(x > 0, -x, x)))

    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    return one + (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))


def kl_beta(p, q):
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    beta = ops.lgamma(c) + ops.lgamma(d) - ops.lgamma(c + d) - ops.lgamma(a) - ops.lgamma(b) + ops.lgamma(a + b)
    return beta + (a - c) * ops.digamma(a) + (b - d) * ops.digamma(b) + (c + d - a - b) * ops.digamma(a + b)


def kl_gamma(p, q):
    a, b = p.concentration, q.concentration
    kept = b * ops.log(p.rate / q.rate) + ops.lgamma(b) - ops.lgamma(a)
    return kept + (a - b) * ops.digamma(a) + (q.rate - p.rate) * (a / p.rate)


def kl_dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    kept = ops.lgamma(total) - ops.lgamma(b.sum(-1)) - (ops.lgamma(a) - ops.lgamma(b)).sum(-1)
    return kept + ((a - b) * (ops.digamma(a) - ops.digamma(total).expand_dims(-1))).sum(-1)


def kl_multivariate_normal(p, q):
    logs = ops.log(matrix_diagonal(q.scale_tril)).sum(-1) - ops.log(matrix_diagonal(p.scale_tril)).sum(-1)
    spread = (solve_triangular(q.scale_tril, p.scale_tril, False) ** 2).sum((-2, -1))
    shift = solve_triangular(q.scale_tril, (q.loc - p.loc).expand_dims(-1), False).squeeze(-1)
    return logs + 0.5 * (spread + (shift**2).sum(-1) - p.event_shape[0])


def kl_uniform(p, q):
    inside = ops.logical_and(q.low <= p.low, p.high <= q.high)
    value = ops.log((q.high - q.low) / (p.high - p.low))
    return ops.where(inside, value, ops.full_like(value, float("inf")))


def kl_laplace(p, q):
    ratio, distance = p.scale / q.scale, ops.abs(p.loc - q.loc)
    return -ops.log(ratio) + distance / q.scale + ratio * ops.exp(-distance / p.scale) - 1


def kl_exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ops.log(ratio) - 1
