"""Reductions with torch's arguments: dim may be a number, several, none or empty, and a scalar has dimension 0."""

import mindspore as ms
from mindspore import ops

from .parts import SELECTS_PARTS


def dims_of(x, dim):
    """The dimensions that `dim` names, counted from the front; all of them for None and ()."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(x.ndim))
    dims = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    return tuple(each % x.ndim for each in dims) if x.ndim else ()


def as_integer_sum(x):
    """torch sums booleans and small integers as int64."""
    return x if x.is_floating_point() or x.is_complex() else x.astype(ms.int64)


def reduced_size(x, dims):
    size = 1
    for each in dims:
        size *= x.shape[each]
    return size


def sum_over(input, dim=None, keepdim=False, dtype=None, axis=None):
    """torch.sum."""
    x = as_integer_sum(input) if dtype is None else input.astype(dtype)
    dims = dims_of(x, axis if dim is None else dim)
    if 0 in x.shape:
        return ops.zeros(reduced_shape(x, dims, keepdim), x.dtype)
    return ops.sum(x, dims, keepdim) if dims else x


def reduced_shape(x, dims, keepdim):
    """The shape without these dimensions, or with ones in their place."""
    return tuple(1 if axis in dims else size for axis, size in enumerate(x.shape) if keepdim or axis not in dims)


def mean_over(input, dim=None, keepdim=False, dtype=None, axis=None):
    """torch.mean."""
    x = input if dtype is None else input.astype(dtype)
    dims = dims_of(x, axis if dim is None else dim)
    if not dims:
        return x
    count = reduced_size(x, dims)
    return sum_over(x, dims, keepdim) / (count if count else float("nan"))


def nansum(input, dim=None, keepdim=False, dtype=None):
    """torch.nansum."""
    return sum_over(ops.where(ops.isnan(input), ops.zeros_like(input), input), dim, keepdim, dtype)


def nanmean(input, dim=None, keepdim=False, dtype=None):
    """torch.nanmean."""
    count = sum_over(ops.logical_not(ops.isnan(input)).astype(input.dtype), dim, keepdim)
    return nansum(input, dim, keepdim, dtype) / count


def prod_over(input, dim=None, keepdim=False, dtype=None):
    """torch.prod. The product is taken by halves, so that its gradient holds where an element is zero."""
    x = as_integer_sum(input) if dtype is None else input.astype(dtype)
    if x.ndim == 0:
        return x.copy()
    axis = 0 if dim is None else dim % x.ndim
    y = x.reshape(-1) if dim is None else x
    length = y.shape[axis]
    if length == 0:
        shape = y.shape[:axis] + (1,) + y.shape[axis + 1 :]
        y, length = ops.ones(shape, y.dtype), 1
    while length > 1:
        half = length // 2
        product = ops.narrow(y, axis, 0, half) * ops.narrow(y, axis, half, half)
        y = ops.cat((product, ops.narrow(y, axis, 2 * half, 1)), axis) if length % 2 else product
        length = half + length % 2
    return y if keepdim and dim is not None else y.squeeze(axis)


def var_over(input, dim=None, unbiased=None, keepdim=False, correction=None):
    """torch.var: unbiased unless told otherwise. The second argument may also be `unbiased`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    dims = dims_of(input, dim)
    if not dims:
        return input * 0 + (float("nan") if correction >= 1 else 0.0)
    centered = input - ops.sum(input, dims, True) / reduced_size(input, dims)
    squares = ops.sum(ops.square(centered), dims, keepdim)
    freedom = reduced_size(input, dims) - correction
    return squares / freedom if freedom > 0 else squares / ops.zeros_like(squares)


def std_over(input, dim=None, unbiased=None, keepdim=False, correction=None):
    """torch.std, whose gradient is 0 where all values are equal."""
    variance = var_over(input, dim, unbiased, keepdim, correction)
    is_flat = variance == 0
    return ops.where(is_flat, variance * 0, ops.sqrt(ops.where(is_flat, ops.ones_like(variance), variance)))


def var_mean(input, dim=None, unbiased=None, keepdim=False, correction=None):
    """torch.var_mean."""
    axes = None if isinstance(dim, bool) else dim
    return var_over(input, dim, unbiased, keepdim, correction), mean_over(input, axes, keepdim)


def std_mean(input, dim=None, unbiased=None, keepdim=False, correction=None):
    """torch.std_mean."""
    axes = None if isinstance(dim, bool) else dim
    return std_over(input, dim, unbiased, keepdim, correction), mean_over(input, axes, keepdim)


def extreme_over(reduce, input, dim, keepdim):
    dims = dims_of(input, dim)
    if not dims:
        return input.copy()
    return reduce(input, dims, keepdim)


def amax(input, dim=(), keepdim=False):
    """torch.amax."""
    return extreme_over(ops.amax, input, dim, keepdim)


def amin(input, dim=(), keepdim=False):
    """torch.amin."""
    return extreme_over(ops.amin, input, dim, keepdim)


def with_nan_as(x, number):
    """x with a number in place of NaN: torch takes NaN for the largest and for the smallest, MindSpore passes over it."""
    return ops.where(ops.isnan(x), ops.full_like(x, number), x) if x.is_floating_point() else x


def argmax_kept(x, axis, keepdims):
    """ops.argmax to which NaN is the largest."""
    return ops.argmax(with_nan_as(x, float("inf")), axis, keepdims).astype(ms.int64)


def argmin_kept(x, axis, keepdims):
    """ops.argmin to which NaN is the smallest."""
    return ops.argmin(with_nan_as(x, float("-inf")), axis, keepdims).astype(ms.int64)


def extreme_with_index(arg, input, dim, keepdim):
    """(values, indices) along `dim`."""
    if input.ndim == 0:
        return input.copy(), ms.Tensor(0, ms.int64)
    axis = dim % input.ndim
    if SELECTS_PARTS and 0 in input.shape:
        shape = (*input.shape[:axis], 1, *input.shape[axis + 1 :])
        values, index = ops.zeros(shape, input.dtype), ops.zeros(shape, ms.int64)
    else:
        index = arg(input, axis, True)
        values = ops.gather_elements(input, axis, index)
    return (values, index) if keepdim else (values.squeeze(axis), index.squeeze(axis))


def maximum(input, other):
    """torch.maximum, of empty tensors too; NaN where either is."""
    return with_either_nan(ops.maximum, input, other)


def minimum(input, other):
    """torch.minimum, of empty tensors too; NaN where either is."""
    return with_either_nan(ops.minimum, input, other)


def with_either_nan(choose, input, other):
    """One of two, and NaN where either is: MindSpore passes over a NaN in the first one."""
    total = input + other
    if 0 in total.shape or not total.is_floating_point():
        return choose(input, other) if 0 not in total.shape else total
    return ops.where(ops.logical_or(input != input, other != other), total, choose(input, other))


def max_of(input, dim=None, keepdim=False, other=None):
    """torch.max: of all elements, of two tensors, or (values, indices) along a dimension."""
    pair = dim if isinstance(dim, ms.Tensor) else other
    if pair is not None:
        return maximum(input, pair)
    return amax(input) if dim is None else extreme_with_index(argmax_kept, input, dim, keepdim)


def min_of(input, dim=None, keepdim=False, other=None):
    """torch.min: of all elements, of two tensors, or (values, indices) along a dimension."""
    pair = dim if isinstance(dim, ms.Tensor) else other
    if pair is not None:
        return minimum(input, pair)
    return amin(input) if dim is None else extreme_with_index(argmin_kept, input, dim, keepdim)


def aminmax(input, dim=None, keepdim=False):
    """torch.aminmax."""
    if dim is None and keepdim:
        dim = tuple(range(input.ndim))
    return amin(input, () if dim is None else dim, keepdim), amax(input, () if dim is None else dim, keepdim)


def arg_extreme(arg, input, dim, keepdim):
    if input.ndim == 0:
        return ms.Tensor(0, ms.int64)
    if dim is not None:
        return arg(input, dim, keepdim)
    index = arg(input.reshape(-1), 0, False)
    return index.reshape((1,) * input.ndim) if keepdim else index


def argmax(input, dim=None, keepdim=False):
    """torch.argmax, int64."""
    return arg_extreme(argmax_kept, input, dim, keepdim)


def argmin(input, dim=None, keepdim=False):
    """torch.argmin, int64."""
    return arg_extreme(argmin_kept, input, dim, keepdim)


def all_true(input, dim=None, keepdim=False):
    """torch.all."""
    return extreme_over(ops.all, input if input.dtype == ms.bool_ else input != 0, dim, keepdim)


def any_true(input, dim=None, keepdim=False):
    """torch.any."""
    return extreme_over(ops.any, input if input.dtype == ms.bool_ else input != 0, dim, keepdim)


def count_nonzero(input, dim=None):
    """torch.count_nonzero, int64."""
    return sum_over((input != 0).astype(ms.int64), dim)


def logsumexp(input, dim, keepdim=False):
    """torch.logsumexp."""
    x = input if input.is_floating_point() else input.astype(ms.float32)
    dims = dims_of(x, dim)
    if not dims:
        return x.copy()
    if reduced_size(x, dims) == 0:
        return ops.log(ops.sum(x, dims, keepdim))
    top = ops.stop_gradient(ops.amax(x, dims, True))
    top = ops.where(ops.isfinite(top), top, ops.zeros_like(top))
    total = ops.log(ops.sum(ops.exp(x - top), dims, True)) + top
    return total if keepdim else total.reshape(ops.sum(x, dims, False).shape)


def is_equal(input, other):
    """torch.equal: one bool."""
    return input.shape == other.shape and bool((input == other).all())


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """torch.allclose: one bool."""
    return bool(ops.isclose(input, other, rtol, atol, equal_nan).all())
