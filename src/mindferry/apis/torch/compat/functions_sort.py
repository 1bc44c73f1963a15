"""Sorting, order statistics, histograms and sets. Indices are int64, as torch's."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .functions_reduce import with_nan_as
from .named_parts import named_parts


def sort_by(input, dim=-1, descending=False, stable=False):
    """torch.sort: (values, indices), stable."""
    index = argsort(input, dim, descending, stable)
    return (ops.gather_elements(input, dim, index) if input.ndim else input.copy()), index


def argsort(input, dim=-1, descending=False, stable=False):
    """torch.argsort, int64."""
    if input.ndim == 0:
        return ms.Tensor(0, ms.int64)
    if input.size == 0:
        return ops.zeros(input.shape, ms.int64)
    key = input.astype(ms.float32) if input.dtype in (ms.bool_, ms.int8, ms.uint8, ms.int16) else input
    return ops.sort(with_nan_as(key, float("inf")), dim, descending)[1].astype(ms.int64)


def msort(input):
    """torch.msort."""
    return sort_by(input, 0)[0]


def topk(input, k, dim=-1, largest=True, sorted=True):
    """torch.topk: (values, indices)."""
    if input.ndim == 0:
        return input.copy(), ms.Tensor(0, ms.int64)
    axis = dim % input.ndim
    if k == 0 or input.size == 0:
        shape = (*input.shape[:axis], k, *input.shape[axis + 1 :])
        return ops.zeros(shape, input.dtype), ops.zeros(shape, ms.int64)
    index = ops.narrow(argsort(input, axis, largest), axis, 0, k)
    return ops.gather_elements(input, axis, index), index


def kthvalue(input, k, dim=-1, keepdim=False):
    """torch.kthvalue: (values, indices)."""
    if input.ndim == 0:
        return input.copy(), ms.Tensor(0, ms.int64)
    axis = dim % input.ndim
    index = ops.narrow(argsort(input, axis), axis, k - 1, 1)
    values = ops.gather_elements(input, axis, index)
    return (values, index) if keepdim else (values.squeeze(axis), index.squeeze(axis))


def median(input, dim=None, keepdim=False):
    """torch.median: the lower one of two; (values, indices) along a dimension."""
    if dim is None:
        found = ops.stop_gradient(median(input.reshape(-1), 0)[0])
        if not input.is_floating_point():
            return found
        is_median = input == found  # all of them share the gradient
        shared = ops.where(is_median, input, ops.zeros_like(input)).sum() / is_median.astype(input.dtype).sum()
        return ops.where(ops.isnan(input).any(), ops.full_like(shared, float("nan")), shared)
    return kthvalue(input, (input.shape[dim] + 1) // 2 if input.ndim else 1, dim, keepdim)


def nanmedian(input, dim=None, keepdim=False):
    """torch.nanmedian."""
    if dim is None:
        return nanmedian(input.reshape(-1), 0)[0]
    if input.ndim == 0:
        return input.copy(), ms.Tensor(0, ms.int64)
    axis = dim % input.ndim
    order = argsort(ops.where(ops.isnan(input), ops.full_like(input, float("inf")), input), axis)
    count = ops.sum(ops.logical_not(ops.isnan(input)).astype(ms.int64), axis, True)
    place = ops.maximum((count + 1) // 2 - 1, ops.zeros_like(count))
    index = ops.gather_elements(order, axis, place)
    values = ops.gather_elements(input, axis, index)
    return (values, index) if keepdim else (values.squeeze(axis), index.squeeze(axis))


def mode_of(input, dim=-1, keepdim=False):
    """torch.mode: the most frequent value, the smallest of several; its last place."""
    if input.ndim == 0:
        return input.copy(), ms.Tensor(0, ms.int64)
    axis = dim % input.ndim
    x = ops.movedim(ops.stop_gradient(input), axis, -1)
    count = ops.sum((x.unsqueeze(-1) == x.unsqueeze(-2)).astype(ms.int64), -1)
    is_most = count == ops.amax(count.astype(ms.float32), -1, True).astype(ms.int64)
    highest = float("inf") if x.is_floating_point() else int(np.iinfo(ms.dtype_to_nptype(x.dtype)).max)
    value = ops.amin(ops.where(is_most, x, ops.full_like(x, highest)), -1, True)
    places = ops.arange(x.shape[-1]).astype(ms.float32)
    index = ops.amax(ops.where(x == value, places, ops.full_like(places, -1)), -1, True).astype(ms.int64)
    index = ops.movedim(index, -1, axis)
    values = ops.gather_elements(input, axis, index)
    return (values, index) if keepdim else (values.squeeze(axis), index.squeeze(axis))


def quantile(input, q, dim=None, keepdim=False, interpolation="linear", skip_nan=False):
    """torch.quantile."""
    x, axis = (input.reshape(-1), 0) if dim is None else (input, dim % max(input.ndim, 1))
    x = x.reshape(1) if x.ndim == 0 else x
    points = q if isinstance(q, ms.Tensor) else ms.Tensor(q, input.dtype)
    ordered = ops.movedim(_sorted_nan_last(x, axis), axis, -1)
    is_nan = ops.isnan(ordered)
    count = ops.sum(ops.logical_not(is_nan).astype(x.dtype), -1, True)
    last = count - 1 if skip_nan else ops.full_like(count, x.shape[axis] - 1)
    rank = points.reshape((-1,) + (1,) * ordered.ndim) * last.unsqueeze(0)
    rank = ops.maximum(rank, ops.zeros_like(rank)).astype(ms.float32)
    low, high = ops.stop_gradient(ops.floor(rank)), ops.stop_gradient(ops.ceil(rank))
    spread = ops.broadcast_to(ordered.unsqueeze(0), (rank.shape[0], *ordered.shape))
    below = ops.gather_elements(spread, -1, low.astype(ms.int64))
    above = ops.gather_elements(spread, -1, high.astype(ms.int64))
    weight = {
        "linear": rank - low,
        "lower": ops.zeros_like(rank),
        "higher": ops.ceil(rank - low),
        "midpoint": ops.ceil(rank - low) / 2,
        "nearest": ops.round(rank) - low,
    }[interpolation]
    values = ops.where(weight == 0, below, ops.where(weight == 1, above, below + (above - below) * weight))
    if not skip_nan:
        values = ops.where(
            is_nan.any(axis=-1, keep_dims=True).unsqueeze(0), ops.full_like(values, float("nan")), values
        )
    values = ops.movedim(values, -1, axis + 1) if keepdim and dim is not None else values.squeeze(-1)
    if keepdim and dim is None:
        values = values.reshape((-1,) + (1,) * input.ndim)
    if input.ndim == 0 and values.ndim > 1:
        values = values.reshape(-1)
    return values if points.ndim else values.squeeze(0)


def _sorted_nan_last(x, axis):
    safe = ops.where(ops.isnan(x), ops.full_like(x, float("inf")), x)
    return ops.gather_elements(x, axis, argsort(safe, axis))


def nanquantile(input, q, dim=None, keepdim=False, interpolation="linear"):
    """torch.nanquantile."""
    return quantile(input, q, dim, keepdim, interpolation, skip_nan=True)


def searchsorted(sorted_sequence, input, out_int32=False, right=False, side=None, sorter=None):
    """torch.searchsorted."""
    is_number = not isinstance(input, ms.Tensor)
    values = ms.Tensor(input, sorted_sequence.dtype) if is_number else input
    sequence = sorted_sequence if sorter is None else ops.gather_elements(sorted_sequence, -1, sorter)
    if sequence.ndim == 1:
        row = sequence.reshape((1,) * values.ndim + (-1,))
    else:
        row = sequence.unsqueeze(-2)
    column = values.unsqueeze(-1)
    is_before = row <= column if right or side == "right" else row < column
    if sequence.shape[-1] == 0:
        return ops.zeros(values.shape, ms.int32 if out_int32 else ms.int64)
    return ops.sum(is_before.astype(ms.int64), -1).astype(ms.int32 if out_int32 else ms.int64)


def bucketize(input, boundaries, out_int32=False, right=False):
    """torch.bucketize."""
    return searchsorted(boundaries, input, out_int32, right)


def isin(elements, test_elements, assume_unique=False, invert=False):
    """torch.isin."""
    x = elements if isinstance(elements, ms.Tensor) else ms.Tensor(elements)
    tests = test_elements if isinstance(test_elements, ms.Tensor) else ms.Tensor(test_elements)
    found = (x.unsqueeze(-1) == tests.reshape(-1)).any(axis=-1)
    return ops.logical_not(found) if invert else found


def unique_values(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """torch.unique. The number of values depends on the data, so that this runs on the host."""
    found = np.unique(input.asnumpy(), return_inverse=True, return_counts=True, axis=dim)
    values, inverse, counts = (ms.Tensor(np.array(each, order="C")) for each in found)
    shape = input.shape if dim is None else (input.shape[dim],)
    results = [
        values,
        *([inverse.reshape(shape).astype(ms.int64)] if return_inverse else []),
        *([counts] if return_counts else []),
    ]
    return results[0] if len(results) == 1 else tuple(results)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """torch.unique_consecutive."""
    data = input.asnumpy()
    rows = (
        data.reshape(-1, 1)
        if dim is None
        else np.moveaxis(data, dim, 0).reshape(data.shape[dim], data.size // max(data.shape[dim], 1))
    )
    starts = np.ones(len(rows), bool)
    starts[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    places = np.flatnonzero(starts)
    values = data.reshape(-1)[places] if dim is None else np.take(data, places, dim)
    inverse = (np.cumsum(starts) - 1).reshape(data.shape if dim is None else (data.shape[dim],))
    counts = np.diff(np.append(places, len(rows)))
    chosen = [
        values,
        *([inverse.astype(np.int64)] if return_inverse else []),
        *([counts.astype(np.int64)] if return_counts else []),
    ]
    results = tuple(ms.Tensor(np.array(each, order="C")) for each in chosen)
    return results[0] if len(results) == 1 else results


def bincount(input, weights=None, minlength=0):
    """torch.bincount."""
    counts = np.bincount(input.asnumpy(), None if weights is None else weights.asnumpy(), minlength)
    return ms.Tensor(counts.astype(np.int64 if weights is None else weights.asnumpy().dtype))


def histc(input, bins=100, min=0, max=0):
    """torch.histc."""
    data = input.asnumpy().reshape(-1)
    low, high = (float(data.min()), float(data.max())) if min == max and data.size else (float(min), float(max))
    if low == high:
        low, high = low - 1, high + 1
    return ms.Tensor(np.histogram(data, bins, (low, high))[0].astype(data.dtype))


@named_parts("hist bin_edges")
def histogram(input, bins, range=None, weight=None, density=False):
    """torch.histogram: (counts, edges)."""
    data = input.asnumpy().reshape(-1)
    edges = bins.asnumpy() if isinstance(bins, ms.Tensor) else bins
    weights = None if weight is None else weight.asnumpy().reshape(-1)
    counts, edges = np.histogram(
        data, edges, range if range is None else tuple(range), weights=weights, density=density
    )
    return ms.Tensor(counts.astype(data.dtype)), ms.Tensor(edges.astype(data.dtype))


def histogramdd(input, bins, range=None, weight=None, density=False):
    """torch.histogramdd: (counts, list of edges)."""
    data = input.asnumpy().reshape(-1, input.shape[-1])
    edges = (
        [each.asnumpy() if isinstance(each, ms.Tensor) else each for each in bins]
        if isinstance(bins, (list, tuple))
        else bins
    )
    limits = None if range is None else [tuple(range[i : i + 2]) for i in np.arange(0, len(range), 2)]
    weights = None if weight is None else weight.asnumpy().reshape(-1)
    if not isinstance(edges, list) or not isinstance(edges[0], np.ndarray):
        counts, edges = np.histogramdd(data, edges, limits, weights=weights, density=density)
        return ms.Tensor(counts.astype(data.dtype)), [ms.Tensor(each.astype(data.dtype)) for each in edges]
    return counted_within(data, edges, weights, density), [ms.Tensor(each) for each in edges]


def counted_within(data, edges, weights, density):
    """The share of each cell between given edges; numpy refuses edges out of order, torch doesn't."""
    shape = tuple(len(each) - 1 for each in edges)
    places, inside = [], np.ones(len(data), bool)
    for column, each in zip(data.T, edges):
        place = np.where(column == each[-1], len(each) - 2, np.searchsorted(each, column, "right") - 1)
        inside &= (column >= each[0]) & (column <= each[-1])
        places.append(np.clip(place, 0, len(each) - 2))
    counts = np.zeros(shape, np.float64)
    np.add.at(counts, tuple(each[inside] for each in places), 1.0 if weights is None else weights[inside])
    if density:
        volume = 1.0
        for each in edges:
            volume = np.multiply.outer(volume, np.diff(each))
        counts = counts / counts.sum() / volume
    return ms.Tensor(counts.astype(data.dtype))


def nonzero(input, as_tuple=False):
    """torch.nonzero."""
    if input.ndim and input.size:
        places = ops.nonzero(input).astype(ms.int64)
    else:
        places = ms.Tensor(
            np.argwhere(np.atleast_1d(input.asnumpy()) if as_tuple else input.asnumpy()).astype(np.int64)
        )
    return tuple(places[:, int(each)] for each in range(max(input.ndim, 1))) if as_tuple else places


def nonzero_static(input, size, fill_value=-1):
    """torch.nonzero_static: exactly `size` rows."""
    found = np.argwhere(input.asnumpy())[:size]
    rest = np.full((size - len(found), input.ndim), fill_value)
    return ms.Tensor(np.concatenate((found, rest)).astype(np.int64))


def combinations(input, r=2, with_replacement=False):
    """torch.combinations."""
    count = input.shape[0]
    grid = np.indices((count,) * r).reshape(r, -1)
    keep = np.all(grid[:-1] <= grid[1:], 0) if with_replacement else np.all(grid[:-1] < grid[1:], 0)
    index = ms.Tensor(grid[:, keep].T.astype(np.int64))
    if not math.prod(index.shape):
        return ops.zeros(index.shape, input.dtype)
    return ops.gather(input, index, 0)
