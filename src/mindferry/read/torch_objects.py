"""What torch's objects give that are neither tensors nor networks: a distribution's samples, for instance."""

from __future__ import annotations

from .types import SIZE, TENSOR, UNKNOWN, Type

DISTRIBUTIONS = "torch.distributions."
_METHODS = frozenset(
    {"sample", "rsample", "sample_n", "log_prob", "entropy", "cdf", "icdf", "perplexity", "enumerate_support"}
    | {"inv", "log_abs_det_jacobian"}
)
_ATTRIBUTES = frozenset(
    {"mean", "stddev", "variance", "mode", "probs", "logits", "loc", "scale", "rate", "concentration", "low", "high"}
    | {"concentration0", "concentration1", "covariance_matrix", "precision_matrix", "scale_tril", "df"}
)


def object_method(base: str, name: str) -> Type:
    """What a method of an instance of torch's class `base` returns."""
    return TENSOR if base.startswith(DISTRIBUTIONS) and name in _METHODS else UNKNOWN


def object_attribute(base: str, name: str) -> Type:
    """What an attribute of an instance of torch's class `base` is."""
    if not base.startswith(DISTRIBUTIONS):
        return UNKNOWN
    return SIZE if name in ("batch_shape", "event_shape") else TENSOR if name in _ATTRIBUTES else UNKNOWN
