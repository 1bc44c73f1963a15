"""Indexing, gathering and scattering with torch's arguments and int64 indices."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .functions_reduce import prod_over
from .functions_shape import put_positions, take_positions


def take_every(x, *picks):
    """x[:, 1::2] and its like, each pick (axis, start, step) or with its end: the gradient of a strided slice fails on a CPU."""
    for pick in picks:
        axis, start, step, stop = pick[0], pick[1], pick[2], pick[3] if len(pick) > 3 else None
        if not isinstance(x, ms.Tensor):
            x = x[tuple(slice(start, stop, step) if axis in (k, k - x.ndim) else slice(None) for k in range(x.ndim))]
            continue
        size, start = x.shape[axis], start or 0
        start = max(start + size, 0) if start < 0 else start
        stop = size if stop is None else min(stop + size if stop < 0 else stop, size)
        x = ops.gather(x, ms.Tensor(list(range(start, stop, step)), ms.int32), axis % x.ndim)
    return x


def indexed(x, index):
    """x[index] where the first part may be a number: torch takes its dimension away before the other parts count."""
    first = index[0]
    is_number = first.ndim == 0 if isinstance(first, ms.Tensor) else isinstance(first, (int, np.integer))
    is_number = is_number and not isinstance(first, bool)
    return x[int(first)][index[1:]] if is_number else x[index]


def one_place(number):
    """The slice that holds this place alone: of a number MindSpore, unlike torch, gives the values another order."""
    return slice(number, number + 1 or None)


def fill_slices(x, bounds, value):
    """x[a:b, c:d] = value, the bounds as pairs: MindSpore fails to assign to an empty slice."""
    mask = None
    for axis, (start, stop) in enumerate(bounds):
        size = x.shape[axis]
        start, stop = 0 if start is None else start, size if stop is None else stop
        start, stop = start + size if start < 0 else start, stop + size if stop < 0 else stop
        inside = ms.Tensor([start <= place < stop for place in range(size)], ms.bool_)
        inside = inside.reshape((1,) * axis + (size,) + (1,) * (x.ndim - axis - 1))
        mask = inside if mask is None else ops.logical_and(mask, inside)
    return ops.where(mask, ops.full_like(x, value), x)


def take_slices(x, *parts):
    """x[a:b, c:d], the bounds as pairs: the gradient of an empty slice fails, so one is made anew."""
    index = tuple([slice(*part) if isinstance(part, tuple) else part for part in parts])
    given = len(index) - (Ellipsis in index)
    whole = (slice(None),) * (x.ndim - given)
    at = index.index(Ellipsis) if Ellipsis in index else len(index)
    places = index[:at] + whole + index[at + 1 :]
    shape = [len(range(*place.indices(size))) for place, size in zip(places, x.shape) if isinstance(place, slice)]
    return x[index] if all(shape) else ops.zeros(tuple(shape), dtype=x.dtype)


def as_index(index, x=None):
    """An array or a number of numpy's as MindSpore takes it for an index; as it is if x, which it is for, is no tensor."""
    if not (x is None or isinstance(x, ms.Tensor)):
        return index
    if isinstance(index, (tuple, list)):  # np.where gives one array an axis
        return type(index)([as_index(part) for part in index])
    if not isinstance(index, np.ndarray | np.generic):
        return index
    return ms.Tensor(index) if index.ndim else index.item()


def take_place(x, *places):
    """x[i, j]: where all are single places and one is a tensor, MindSpore's gradient fails; it goes one axis at a time."""
    if any(getattr(place, "ndim", 0) for place in places):
        return x[places]
    for place in places:
        x = x[place]
    return x


def without_leading_ones(value, part):
    """What x[i] = value assigns to the part x[i]: torch drops the ones that value's shape starts with, MindSpore fails."""
    extra = getattr(value, "ndim", 0) - part.ndim
    return value.reshape(value.shape[extra:]) if extra > 0 else value


def with_own_shape(value):
    """What x[i, :n] = value assigns: MindSpore's gradient of it has an axis too many, which is taken off here."""
    return value.reshape(value.shape) if isinstance(value, ms.Tensor) else value


def take_counted(x, index):
    """x[index]: MindSpore's gradient passes over rows that are counted from the end, so they are counted from the front."""
    is_mask = not isinstance(index, ms.Tensor) or index.dtype == ms.bool_
    return x[index] if is_mask else x[ops.where(index < 0, index + x.shape[0], index)]


def take_found(x, found):
    """x[found]: where a search found nothing, MindSpore's gradient of it fails on a CPU."""
    found = places_for(x, found)
    is_plain = not isinstance(x, ms.Tensor) or not isinstance(found, ms.Tensor) or found.size or found.dtype == ms.bool_
    return x[found] if is_plain else ops.zeros(found.shape + x.shape[1:], x.dtype)


def places_for(x, found):
    """What a search in an array found, np.nonzero's tuple too, as a tensor has it for an index."""
    if not isinstance(x, ms.Tensor):
        return found
    if isinstance(found, tuple) and len(found) == 1:
        return places_for(x, found[0])
    if isinstance(found, tuple):
        return tuple([places_for(x, each) for each in found])
    return ms.Tensor(found) if isinstance(found, np.ndarray) else found


def put_found(x, found, value):
    """x[found] = value: where a search found nothing, MindSpore fails."""
    found = places_for(x, found)
    if not isinstance(found, ms.Tensor) or found.size:
        x[found] = value
    return x


def at_least_1d(x):
    return x.reshape(1) if x.ndim == 0 else x


def gather(input, dim, index, sparse_grad=False):
    """torch.gather: index may be smaller than input."""
    if not index.size:
        return ops.zeros(index.shape, input.dtype)
    if input.ndim == 0:
        return ops.gather_elements(input.reshape(1), 0, at_least_1d(index)).reshape(index.shape)
    x = at_least_1d(input)
    places = at_least_1d(index)
    for axis in range(x.ndim):
        if axis != dim % x.ndim and x.shape[axis] != places.shape[axis]:
            x = ops.narrow(x, axis, 0, places.shape[axis])
    return ops.gather_elements(x, dim, places).reshape(index.shape)


def take_along_dim(input, indices, dim=None):
    """torch.take_along_dim."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    axis = dim % input.ndim
    shape = np.broadcast_shapes(_without(input.shape, axis), _without(indices.shape, axis))
    x = ops.broadcast_to(input, _with(shape, axis, input.shape[axis]))
    return gather(x, axis, ops.broadcast_to(indices, _with(shape, axis, indices.shape[axis])))


def _without(shape, axis):
    return shape[:axis] + (1,) + shape[axis + 1 :]


def _with(shape, axis, size):
    return tuple(shape[:axis]) + (size,) + tuple(shape[axis + 1 :])


def index_select(input, dim, index):
    """torch.index_select."""
    if input.ndim == 0:
        return input.copy()
    axis = dim % input.ndim
    if not index.size:
        return ops.zeros(input.shape[:axis] + (0,) + input.shape[axis + 1 :], input.dtype)
    return ops.gather(input, at_least_1d(index), axis)


def take_flat(input, index):
    """torch.take: by flat positions, which may count from the end."""
    if not index.size:
        return ops.zeros(index.shape, input.dtype)
    size = input.size
    places = ops.where(index < 0, index + size, index)
    return ops.gather(input.reshape(-1), places.reshape(-1), 0).reshape(index.shape)


def put_flat(input, index, source, accumulate=False):
    """torch.put."""
    if not index.size:
        return input.copy()
    places = ops.where(index < 0, index + input.size, index).reshape(-1, 1)
    return scatter_rows(input.reshape(-1), places, source.reshape(-1), accumulate).reshape(input.shape)


def scatter_rows(x, places, values, accumulate):
    """x with values at places, one row of coordinates each."""
    update = ops.tensor_scatter_add if accumulate else ops.tensor_scatter_update
    if not accumulate:
        values = values.astype(x.dtype)
    return update(x, places.astype(ms.int32), values)


def index_put(input, indices, values, accumulate=False):
    """torch.index_put; None keeps a whole dimension, masks name the places where they are true."""
    grids, coordinates = [], []
    for each in indices:
        if each is not None and each.dtype == ms.bool_:
            coordinates += [ms.Tensor(np.asarray(part)) for part in np.nonzero(each.asnumpy())]
        else:
            coordinates.append(each)
    coordinates += [None] * (input.ndim - len(coordinates))
    shape = np.broadcast_shapes(*(each.shape for each in coordinates if each is not None))
    kept = [axis for axis, each in enumerate(coordinates) if each is None]
    full = tuple(shape) + tuple(input.shape[axis] for axis in kept)
    for axis, each in enumerate(coordinates):
        if each is None:
            column = (-1,) + (1,) * (len(kept) - 1 - kept.index(axis))
            grids.append(ops.broadcast_to(ops.arange(input.shape[axis]).reshape(column).astype(ms.int64), full))
        else:
            wrapped = ops.where(each < 0, each + input.shape[axis], each).astype(ms.int64)
            wrapped = ops.broadcast_to(wrapped, tuple(shape))
            grids.append(ops.broadcast_to(wrapped.reshape(tuple(shape) + (1,) * len(kept)), full))
    if 0 in full:
        return input.copy()
    places = ops.stack(grids, -1).reshape(-1, input.ndim)
    source = values if isinstance(values, ms.Tensor) else ms.Tensor(values, input.dtype)
    return scatter_rows(input, places, ops.broadcast_to(source, full).reshape(-1), accumulate)


def index_add(input, dim, index, source, alpha=1):
    """torch.index_add."""
    if input.ndim == 0:
        return input + alpha * source.reshape(-1).sum()
    axis, places = dim % input.ndim, at_least_1d(index)
    rows = ops.movedim(alpha * source, axis, 0) if source.ndim else (alpha * source).reshape(1)
    target = ops.movedim(input, axis, 0)
    return ops.movedim(scatter_rows(target, places.reshape(-1, 1), rows, True), 0, axis)


def index_copy(input, dim, index, source):
    """torch.index_copy."""
    if input.ndim == 0:
        return source.reshape(()).astype(input.dtype)
    axis, places = dim % input.ndim, at_least_1d(index)
    rows = ops.movedim(source, axis, 0) if source.ndim else source.reshape(1)
    return ops.movedim(scatter_rows(ops.movedim(input, axis, 0), places.reshape(-1, 1), rows, False), 0, axis)


def index_fill(input, dim, index, value):
    """torch.index_fill."""
    x = at_least_1d(input)
    rows = ops.arange(x.shape[dim])
    hit = (rows.unsqueeze(-1) == at_least_1d(index)).any(axis=-1)
    axis = dim % x.ndim
    hit = ops.broadcast_to(hit.reshape((-1,) + (1,) * (x.ndim - 1 - axis)), x.shape)
    filler = value.astype(x.dtype) if isinstance(value, ms.Tensor) else ms.Tensor(value, x.dtype)
    return ops.where(hit, filler, x).reshape(input.shape)


def index_reduce(input, dim, index, source, reduce, include_self=True):
    """torch.index_reduce."""
    x, rows = at_least_1d(input), at_least_1d(source)
    axis = dim % x.ndim
    places = ops.broadcast_to(at_least_1d(index).reshape((-1,) + (1,) * (x.ndim - 1 - axis)), rows.shape)
    return scatter_reduce(x, axis, places, rows, reduce, include_self=include_self).reshape(input.shape)


def scatter(input, dim, index, src=None, value=None, reduce=None):
    """torch.scatter."""
    given = src if src is not None else value
    source = given if isinstance(given, ms.Tensor) else ops.full(index.shape, given, dtype=input.dtype)
    if reduce is not None:
        return scatter_reduce(input, dim, index, source, {"add": "sum", "multiply": "prod"}[reduce])
    places = _coordinates(input, dim, index)
    if places is None:
        return input.copy()
    return scatter_rows(at_least_1d(input), places, _window(source, index).reshape(-1), False).reshape(input.shape)


def scatter_add(input, dim, index, src):
    """torch.scatter_add."""
    places = _coordinates(input, dim, index)
    if places is None:
        return input.copy()
    return scatter_rows(at_least_1d(input), places, _window(src, index).reshape(-1), True).reshape(input.shape)


def _window(src, index):
    """The part of src that index covers."""
    x = at_least_1d(src)
    for axis, size in enumerate(at_least_1d(index).shape):
        if x.shape[axis] != size:
            x = ops.narrow(x, axis, 0, size)
    return x


def _coordinates(input, dim, index):
    """Rows of coordinates for scatter, or None if index is empty."""
    if not index.size:
        return None
    places, rank = at_least_1d(index), max(input.ndim, 1)
    grids = []
    for axis in range(rank):
        column = (-1,) + (1,) * (rank - 1 - axis)
        is_dim = axis == dim % rank
        grids.append(
            places.astype(ms.int64)
            if is_dim
            else ops.broadcast_to(ops.arange(places.shape[axis]).reshape(column).astype(ms.int64), places.shape)
        )
    return ops.stack(grids, -1).reshape(-1, rank)


def scatter_reduce(input, dim, index, src, reduce, include_self=True):
    """torch.scatter_reduce: every place collects its sources, in the order of a dense table."""
    x = at_least_1d(input)
    places = _coordinates(input, dim, index)
    if places is None:
        return input.copy()
    values = _window(src, index).reshape(-1).astype(x.dtype)
    flat = ops.zeros((len(places),), ms.int64)
    for size, column in zip(x.shape, range(x.ndim)):
        flat = flat * size + places[:, column]
    hits = ops.arange(x.size).reshape(-1, 1).astype(ms.int64) == flat.reshape(1, -1)
    own = ops.full((x.size, 1), include_self, dtype=ms.bool_)
    own = ops.logical_or(own, ops.logical_not(hits.any(axis=1, keep_dims=True)))
    table = ops.cat((x.reshape(-1, 1), ops.broadcast_to(values.reshape(1, -1), hits.shape)), 1)
    mask = ops.cat((own, hits), 1)
    return _reduce_rows(table, mask, reduce).reshape(input.shape)


def _reduce_rows(table, mask, reduce):
    if reduce in ("sum", "mean"):
        total = ops.sum(ops.where(mask, table, ops.zeros_like(table)), 1)
        return total / ops.sum(mask.astype(table.dtype), 1) if reduce == "mean" else total
    if reduce == "prod":
        return prod_over(ops.where(mask, table, ops.ones_like(table)), 1)
    if reduce == "amax":
        return ops.amax(ops.where(mask, table, ops.full_like(table, float("-inf"))), 1)
    return ops.amin(ops.where(mask, table, ops.full_like(table, float("inf"))), 1)


def segment_reduce(data, reduce, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """torch.segment_reduce along the axis that follows the batch dimensions of lengths."""
    if lengths is None:
        lengths = offsets[..., 1:] - offsets[..., :-1]
    counts = lengths.asnumpy().reshape(-1, lengths.shape[-1])
    rows = data.reshape((counts.shape[0], data.shape[axis], -1))
    start = {"sum": 0.0, "mean": float("nan"), "prod": 1.0, "max": float("-inf"), "min": float("inf")}[reduce]
    start = start if initial is None else float(initial)
    results = []
    for batch, sizes_here in enumerate(counts):
        begin = 0
        for size in sizes_here.tolist():
            results.append(_segment(rows[batch, begin : begin + size], reduce, start, initial is not None))
            begin += size
    return ops.stack(results).reshape(lengths.shape + data.shape[axis + 1 :])


def _segment(part, reduce, start, has_initial):
    if not part.shape[0]:
        return ops.full(part.shape[1:], start, dtype=part.dtype)
    first = ops.full((1, *part.shape[1:]), start, dtype=part.dtype)
    full = ops.cat((first, part), 0) if has_initial and reduce != "mean" else part
    if reduce == "sum":
        return full.sum(axis=0)
    if reduce == "mean":
        return (full.sum(axis=0) + (start if has_initial else 0)) / part.shape[0]
    if reduce == "prod":
        return prod_over(full, 0)
    return ops.amax(full, 0) if reduce == "max" else ops.amin(full, 0)


def masked_fill(input, mask, value):
    """torch.masked_fill; input is broadcast to the mask."""
    filler = value.astype(input.dtype) if isinstance(value, ms.Tensor) else ms.Tensor(value, input.dtype)
    return ops.where(mask, filler, input)


def masked_select(input, mask):
    """torch.masked_select. How many are selected depends on the data, so that the mask is read on the host."""
    shape = np.broadcast_shapes(input.shape, mask.shape)
    chosen = np.flatnonzero(np.broadcast_to(mask.asnumpy(), shape))
    return take_positions(ops.broadcast_to(input, shape), chosen)


def masked_scatter(input, mask, source):
    """torch.masked_scatter."""
    shape = np.broadcast_shapes(input.shape, mask.shape)
    chosen = np.flatnonzero(np.broadcast_to(mask.asnumpy(), shape))
    return (
        put_positions(ops.broadcast_to(input, shape), chosen, source.reshape(-1)[: len(chosen)])
        if len(chosen)
        else input.copy()
    )


def unsafe_masked_index(input, mask, indices, fill):
    """torch._unsafe_masked_index."""
    safe = tuple(ops.where(mask, each, ops.zeros_like(each)) if each is not None else slice(None) for each in indices)
    taken = input[safe]
    wide = mask.reshape(mask.shape + (1,) * (taken.ndim - mask.ndim))
    return ops.where(wide, taken, ms.Tensor(fill, input.dtype))


def unsafe_masked_index_put_accumulate(input, mask, indices, values):
    """torch._unsafe_masked_index_put_accumulate."""
    safe = [ops.where(mask, each, ops.zeros_like(each)) if each is not None else None for each in indices]
    kept = ops.where(mask.reshape(mask.shape + (1,) * (values.ndim - mask.ndim)), values, ops.zeros_like(values))
    return index_put(input, safe, kept, True)
