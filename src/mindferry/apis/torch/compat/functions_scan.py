"""Cumulative operations: the kernels that MindSpore lacks on CPU, as a scan of log2(n) steps."""

import mindspore as ms
from mindspore import ops

from .functions_reduce import maximum, minimum


def shifted(x, axis, by, fill):
    """x moved `by` places along `axis`, with `fill` in front."""
    shape = x.shape[:axis] + (by,) + x.shape[axis + 1 :]
    return ops.cat((ops.full(shape, fill, dtype=x.dtype), ops.narrow(x, axis, 0, x.shape[axis] - by)), axis)


def running(combine, x, axis, start):
    step = 1
    while step < x.shape[axis]:
        x = combine(shifted(x, axis, step, start), x)
        step *= 2
    return x


def cumsum(input, dim, dtype=None):
    """torch.cumsum."""
    x = input.astype(dtype) if dtype is not None else input
    if not (x.is_floating_point() or x.is_complex()):
        x = x.astype(ms.int64)
    return ops.cumsum(x, dim) if x.ndim and x.size else x.copy()


def cumprod(input, dim, dtype=None):
    """torch.cumprod; its gradient holds where an element is zero."""
    x = input.astype(dtype) if dtype is not None else input
    if not (x.is_floating_point() or x.is_complex()):
        x = x.astype(ms.int64)
    return running(lambda a, b: a * b, x, dim % x.ndim, 1) if x.ndim else x.copy()


def running_extreme(input, dim, better, start):
    """(values, indices); of equal elements the last one counts."""
    if input.ndim == 0:
        return input.copy(), ms.Tensor(0, ms.int64)
    axis = dim % input.ndim
    shape = [1] * input.ndim
    shape[axis] = input.shape[axis]
    index = ops.broadcast_to(ops.arange(input.shape[axis]).reshape(tuple(shape)), input.shape)
    values, step = ops.stop_gradient(input), 1
    while step < input.shape[axis]:
        earlier, earlier_index = shifted(values, axis, step, start), shifted(index, axis, step, 0)
        take = ops.logical_or(better(earlier, values), ops.isnan(earlier) & ops.logical_not(ops.isnan(values)))
        values, index = ops.where(take, earlier, values), ops.where(take, earlier_index, index)
        step *= 2
    index = index.astype(ms.int64)
    return ops.gather_elements(input, axis, index), index


def cummax(input, dim):
    """torch.cummax."""
    if input.is_floating_point():
        return running_extreme(input, dim, ops.gt, float("-inf"))
    values, indices = running_extreme(input.astype(ms.int64), dim, ops.gt, -(2**62))
    return values.astype(input.dtype), indices


def cummin(input, dim):
    """torch.cummin."""
    if input.is_floating_point():
        return running_extreme(input, dim, ops.lt, float("inf"))
    values, indices = running_extreme(input.astype(ms.int64), dim, ops.lt, 2**62)
    return values.astype(input.dtype), indices


def logaddexp(input, other):
    """torch.logaddexp; right at infinities too."""
    low, high = minimum(input, other), maximum(input, other)
    same = low == high
    gap = ops.where(same, ops.zeros_like(low), low - high)
    return high + ops.where(same, ops.full_like(low, 0.6931471805599453), ops.log1p(ops.exp(gap)))


def logcumsumexp(input, dim):
    """torch.logcumsumexp."""
    return ops.logcumsumexp(input, dim) if input.ndim and input.size else input.copy()


def trapezoid(y, x=None, dx=1, dim=-1):
    """torch.trapezoid."""
    from_, to, width = _strips(y, x, dx, dim)
    return ((from_ + to) * width / 2).sum(axis=dim)


def cumulative_trapezoid(y, x=None, dx=1, dim=-1):
    """torch.cumulative_trapezoid."""
    from_, to, width = _strips(y, x, dx, dim)
    return cumsum((from_ + to) * width / 2, dim)


def _strips(y, x, dx, dim):
    axis, count = dim % y.ndim, y.shape[dim]
    from_, to = ops.narrow(y, axis, 0, count - 1), ops.narrow(y, axis, 1, count - 1)
    if x is None:
        return from_, to, dx
    if x.ndim == 1:
        width = x[1:] - x[:-1]
        return from_, to, width.reshape((-1,) + (1,) * (y.ndim - 1 - axis))
    axis = dim % x.ndim
    return from_, to, ops.narrow(x, axis, 1, count - 1) - ops.narrow(x, axis, 0, count - 1)


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """torch.diff."""
    if n == 0:
        return input
    parts = [each for each in (prepend, input, append) if each is not None]
    x = ops.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        count = max(x.shape[dim] - 1, 0)
        if count == 0:
            shape = list(x.shape)
            shape[dim] = 0
            return ops.zeros(tuple(shape), x.dtype)
        axis = dim % x.ndim
        later, earlier = ops.narrow(x, axis, 1, count), ops.narrow(x, axis, 0, count)
        x = ops.logical_xor(later, earlier) if x.dtype == ms.bool_ else later - earlier
    return x


def gradient(input, spacing=None, dim=None, edge_order=1):
    """torch.gradient: one tensor per dimension."""
    dims = list(range(input.ndim)) if dim is None else list(dim) if isinstance(dim, (tuple, list)) else [dim]
    if isinstance(spacing, (tuple, list)):
        steps = list(spacing)
    else:
        steps = [1.0 if spacing is None else spacing] * len(dims)
    return tuple(_gradient_along(input, step, each % input.ndim, edge_order) for step, each in zip(steps, dims))


def _gradient_along(x, step, axis, edge_order):
    count = x.shape[axis]

    def at(start, length):
        return ops.narrow(x, axis, start, length)

    if isinstance(step, ms.Tensor) and step.ndim:
        shape = (-1,) + (1,) * (x.ndim - 1 - axis)
        width = (step[1:] - step[:-1]).reshape(shape)
    else:
        width = ops.ones((count - 1,) + (1,) * (x.ndim - 1 - axis), ms.float32) * step
    slope = (at(1, count - 1) - at(0, count - 1)) / width
    before, after = width[:-1], width[1:]
    inner_before, inner_after = ops.narrow(slope, axis, 0, count - 2), ops.narrow(slope, axis, 1, count - 2)
    inner = (inner_before * after + inner_after * before) / (before + after)
    first, last = ops.narrow(slope, axis, 0, 1), ops.narrow(slope, axis, count - 2, 1)
    if edge_order == 2:
        a, b = width[0], width[1]
        first = first + (first - ops.narrow(slope, axis, 1, 1)) * a / (a + b)
        a, b = width[-1], width[-2]
        last = last + (last - ops.narrow(slope, axis, count - 3, 1)) * a / (a + b)
    return ops.cat((first, inner, last), axis)
