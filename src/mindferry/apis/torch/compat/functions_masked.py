"""torch.masked: reductions over the elements that a mask keeps."""

import mindspore as ms
from mindspore import ops

from .functional_norm import log_softmax, softmax, softmin
from .functions_reduce import amax, amin, argmax, argmin, dims_of, logsumexp, prod_over, sum_over
from .functions_scan import cumprod, cumsum, logaddexp
from .functions_sort import nanmedian
from .linalg_lu import norm_over


def kept_only(input, mask, filler, dtype=None):
    """input with `filler` where the mask is false."""
    x = input if dtype is None else input.astype(dtype)
    return x if mask is None else ops.where(mask, x, ms.Tensor(filler, x.dtype))


def kept_count(input, dim, keepdim, mask):
    ones_ = ops.ones(input.shape, ms.float32)
    return sum_over(ones_ if mask is None else ones_ * mask.astype(ms.float32), dim, keepdim)


def masked_sum(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.sum."""
    return sum_over(kept_only(input, mask, 0, dtype), dim, keepdim)


def masked_prod(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.prod, over several dimensions too."""
    x = kept_only(input, mask, 1, dtype)
    for axis in sorted(dims_of(x, dim), reverse=True):
        x = prod_over(x, axis, keepdim)
    return x


def masked_cumsum(input, dim, dtype=None, mask=None):
    """torch.masked.cumsum."""
    return cumsum(kept_only(input, mask, 0, dtype), dim)


def masked_cumprod(input, dim, dtype=None, mask=None):
    """torch.masked.cumprod."""
    return cumprod(kept_only(input, mask, 1, dtype), dim)


def masked_amax(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.amax."""
    return amax(kept_only(input, mask, float("-inf"), dtype), () if dim is None else dim, keepdim)


def masked_amin(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.amin."""
    return amin(kept_only(input, mask, float("inf"), dtype), () if dim is None else dim, keepdim)


def nan_marked(x, dim, sign):
    """x, but a row with NaN only marks where it stands: torch takes NaN for the extreme."""
    if not x.is_floating_point() or not x.ndim or not x.size:
        return x
    marks = ops.isnan(x).astype(x.dtype)
    has_nan = (marks.max() if dim is None else ops.amax(marks, dim, True)) > 0
    return ops.where(has_nan, sign * marks, x)


def masked_argmax(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.argmax."""
    return argmax(nan_marked(kept_only(input, mask, float("-inf")), dim, 1), dim, keepdim).astype(dtype or input.dtype)


def masked_argmin(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.argmin."""
    return argmin(nan_marked(kept_only(input, mask, float("inf")), dim, -1), dim, keepdim).astype(dtype or input.dtype)


def masked_mean(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.mean."""
    return masked_sum(input, dim, keepdim, dtype, mask) / kept_count(input, dim, keepdim, mask)


def masked_median(input, dim=-1, keepdim=False, dtype=None, mask=None):
    """torch.masked.median."""
    return nanmedian(kept_only(input, mask, float("nan"), dtype), dim, keepdim)[0]


def masked_norm(input, ord=2.0, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.norm."""
    return norm_over(kept_only(input, mask, float("inf") if ord < 0 else 0, dtype), ord, dim, keepdim)


def masked_var(input, dim=None, unbiased=None, keepdim=False, dtype=None, mask=None, correction=None):
    """torch.masked.var."""
    x = input if dtype is None else input.astype(dtype)
    freedom = 1 if correction is None and (unbiased is None or unbiased) else correction or 0
    count = kept_count(x, dim, True, mask)
    mean = masked_sum(x, dim, True, None, mask) / count
    squares = masked_sum(ops.square(x - mean), dim, keepdim, None, mask)
    left = kept_count(x, dim, keepdim, mask) - freedom
    return squares / ops.where(left > 0, left, ops.zeros_like(left))


def masked_std(input, dim=None, unbiased=None, keepdim=False, dtype=None, mask=None, correction=None):
    """torch.masked.std."""
    return ops.sqrt(masked_var(input, dim, unbiased, keepdim, dtype, mask, correction))


def masked_softmax(input, dim, dtype=None, mask=None):
    """torch.masked.softmax: NaN where a whole row is masked."""
    return softmax(kept_only(input, mask, float("-inf"), dtype), dim)


def masked_log_softmax(input, dim, dtype=None, mask=None):
    """torch.masked.log_softmax."""
    return log_softmax(kept_only(input, mask, float("-inf"), dtype), dim)


def masked_softmin(input, dim, dtype=None, mask=None):
    """torch.masked.softmin."""
    return softmin(kept_only(input, mask, float("inf"), dtype), dim)


def masked_normalize(input, ord, dim, eps=1e-12, dtype=None, mask=None):
    """torch.masked.normalize."""
    x = kept_only(input, mask, 0, dtype)
    return x / ops.clamp(masked_norm(input, ord, dim, True, dtype, mask), min=eps)


def masked_logsumexp(input, dim=None, keepdim=False, dtype=None, mask=None):
    """torch.masked.logsumexp."""
    return logsumexp(kept_only(input, mask, float("-inf"), dtype), dim, keepdim)


def masked_logaddexp(input, other, dtype=None, input_mask=None, other_mask=None):
    """torch.masked.logaddexp."""
    return logaddexp(
        kept_only(input, input_mask, float("-inf"), dtype), kept_only(other, other_mask, float("-inf"), dtype)
    )
