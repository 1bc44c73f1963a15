"""What torch's objects give that are neither dense tensors nor networks: a distribution's samples, a sparse tensor's values."""

from __future__ import annotations

from ...read.types import INT, SIZE, TENSOR, UNKNOWN, Type, instance

DISTRIBUTIONS, SPARSE = "torch.distributions.", "torch.sparse.Tensor"
PACKED = "torch.nn.utils.rnn.PackedSequence"  # what recurrent layers are given, and give back
PACKERS = frozenset(f"torch.nn.utils.rnn.{name}" for name in ("pack_padded_sequence", "pack_sequence"))
_OF_PACKED = frozenset({"data", "batch_sizes", "sorted_indices", "unsorted_indices"})
_METHODS = frozenset(
    {"sample", "rsample", "sample_n", "log_prob", "entropy", "cdf", "icdf", "perplexity", "enumerate_support"}
    | {"inv", "log_abs_det_jacobian"}
)
_ATTRIBUTES = frozenset(
    {"mean", "stddev", "variance", "mode", "probs", "logits", "loc", "scale", "rate", "concentration", "low", "high"}
    | {"concentration0", "concentration1", "covariance_matrix", "precision_matrix", "scale_tril", "df"}
)
_DENSE = frozenset({"to_dense", "indices", "values", "_indices", "_values", "mm", "matmul", "spmm", "mv"})
_STILL_SPARSE = frozenset(
    {
        "coalesce",
        "t",
        "transpose",
        "to",
        "cuda",
        "cpu",
        "float",
        "detach",
        "clone",
        "requires_grad_",
        "to_sparse",
        "mul",
    }
)


def object_method(base: str, name: str, arguments: int) -> Type:
    """What a method of an instance of torch's class `base` returns."""
    if base.startswith(DISTRIBUTIONS):
        return TENSOR if name in _METHODS else UNKNOWN
    if base != SPARSE:
        return UNKNOWN
    if name == "size":
        return INT if arguments else SIZE
    return TENSOR if name in _DENSE else instance(SPARSE) if name in _STILL_SPARSE else UNKNOWN


def object_attribute(base: str, name: str) -> Type:
    """What an attribute of an instance of torch's class `base` is."""
    if base == PACKED:
        return TENSOR if name in _OF_PACKED else UNKNOWN
    if base == SPARSE:
        return {"shape": SIZE, "T": instance(SPARSE)}.get(name, UNKNOWN)
    if not base.startswith(DISTRIBUTIONS):
        return UNKNOWN
    return SIZE if name in ("batch_shape", "event_shape") else TENSOR if name in _ATTRIBUTES else UNKNOWN
