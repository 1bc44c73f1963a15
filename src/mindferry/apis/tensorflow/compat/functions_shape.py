"""TensorFlow's functions that make, shape, join, cut and index tensors."""

import collections
import contextlib
import os
import sys

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .graph import symbolic
from .layers_shaping import pad_axes
from .row_gradients import look_up
from .tensors import Names, as_dtype, as_tensor, both_tensors, flat, is_number, map_structure
from .texts import or_text


def sizes_of(shape):
    """A shape as numbers, whatever it was given as."""
    if isinstance(shape, Tensor):
        shape = shape.asnumpy().tolist()
    shape = [shape] if is_number(shape) else shape
    return tuple(int(each.asnumpy()) if isinstance(each, Tensor) else int(each) for each in shape)


def constant(value, dtype=None, shape=None, name="Const"):
    made = as_tensor(value, dtype)
    return (
        made
        if shape is None
        else ops.broadcast_to(made, sizes_of(shape))
        if made.size == 1
        else ops.reshape(made, sizes_of(shape))
    )


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    return as_tensor(value, dtype)


@symbolic
def tf_cast(x, dtype, name=None):
    return ops.cast(as_tensor(x), as_dtype(dtype))


def tf_shape(input, out_type=None, name=None):
    return tuple(as_tensor(input).shape)


def tf_size(input, out_type=None, name=None):
    return as_tensor(input).size


def tf_rank(input, name=None):
    return as_tensor(input).ndim


def tf_zeros(shape, dtype="float32", name=None):
    return ops.zeros(sizes_of(shape), as_dtype(dtype))


def tf_ones(shape, dtype="float32", name=None):
    return ops.ones(sizes_of(shape), as_dtype(dtype))


def tf_fill(dims, value, name=None):
    value = as_tensor(value)
    return ops.zeros(sizes_of(dims), value.dtype) + value


@symbolic
def tf_zeros_like(input, dtype=None, name=None, **_):
    x = as_tensor(input)
    return ops.zeros(x.shape, as_dtype(dtype) or x.dtype)


@symbolic
def tf_ones_like(input, dtype=None, name=None, **_):
    x = as_tensor(input)
    return ops.ones(x.shape, as_dtype(dtype) or x.dtype)


def tf_eye(num_rows, num_columns=None, batch_shape=None, dtype="float32", name=None):
    made = ops.eye(int(num_rows), int(num_columns or num_rows), as_dtype(dtype))
    return made if batch_shape is None else ops.broadcast_to(made, (*sizes_of(batch_shape), *made.shape))


def tf_range(start, limit=None, delta=1, dtype=None, name=None):
    given = [
        float(each.asnumpy()) if isinstance(each, Tensor) else each
        for each in (start, limit, delta)
        if each is not None
    ]
    start, limit, delta = (0, given[0], given[1]) if limit is None else given
    is_whole = all(float(each).is_integer() for each in (start, limit, delta)) and not any(
        isinstance(each, float) for each in (start, limit, delta) if not isinstance(each, Tensor)
    )
    made = np.arange(start, limit, delta)
    return as_tensor(made.astype(np.int32 if is_whole else np.float32), dtype)


def tf_linspace(start, stop, num, name=None, axis=0):
    return as_tensor(np.linspace(float(start), float(stop), int(num)).astype(np.float32))


@or_text(lambda tensor, shape, name=None: np.reshape(tensor, sizes_of(shape)))
@symbolic
def tf_reshape(tensor, shape, name=None):
    return ops.reshape(as_tensor(tensor), sizes_of(shape))


@symbolic
def tf_transpose(a, perm=None, conjugate=False, name=None):
    a = as_tensor(a)
    return ops.transpose(a, tuple(reversed(range(a.ndim))) if perm is None else sizes_of(perm))


@or_text(lambda input, axis, name=None: np.expand_dims(input, int(axis)))
@symbolic
def tf_expand_dims(input, axis, name=None):
    return ops.expand_dims(as_tensor(input), int(axis))


@or_text(lambda input, axis=None, name=None: np.squeeze(input, axis))
@symbolic
def tf_squeeze(input, axis=None, name=None):
    x = as_tensor(input)
    if axis is None:
        return ops.reshape(x, tuple(size for size in x.shape if size != 1))
    axes = {each % x.ndim for each in sizes_of(axis)}
    return ops.reshape(x, tuple(size for place, size in enumerate(x.shape) if place not in axes))


@or_text(lambda values, axis, name=None: np.concatenate(values, int(axis)))
@symbolic
def tf_concat(values, axis, name=None):
    made = [as_tensor(each) for each in values]
    return ops.cat(made, int(axis)) if len(made) > 1 else made[0]


@or_text(lambda values, axis=0, name=None: np.stack(values, axis))
@symbolic
def tf_stack(values, axis=0, name=None):
    return ops.stack([as_tensor(each) for each in values], axis)


@symbolic
def tf_unstack(value, num=None, axis=0, name=None):
    x = as_tensor(value)
    axis = axis % x.ndim
    return [ops.squeeze(ops.narrow(x, axis, place, 1), axis) for place in range(x.shape[axis])]


@symbolic
def tf_split(value, num_or_size_splits, axis=0, num=None, name=None):
    x = as_tensor(value)
    axis = axis % x.ndim
    if is_number(num_or_size_splits):
        sizes = [x.shape[axis] // int(num_or_size_splits)] * int(num_or_size_splits)
    else:
        sizes = list(sizes_of(num_or_size_splits))
        rest = x.shape[axis] - sum(each for each in sizes if each >= 0)
        sizes = [rest if each < 0 else each for each in sizes]
    starts = np.cumsum([0, *sizes])
    return [ops.narrow(x, axis, int(start), size) for start, size in zip(starts, sizes)]


@symbolic
def tf_tile(input, multiples, name=None):
    return ops.tile(as_tensor(input), sizes_of(multiples))


@symbolic
def tf_repeat(input, repeats, axis=None, name=None):
    x = as_tensor(input)
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    counts = repeats if is_number(repeats) else sizes_of(repeats)
    places = np.repeat(np.arange(x.shape[axis]), counts).astype(np.int32)
    return ops.gather(x, Tensor(places), axis)


@symbolic
def tf_pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    x = as_tensor(tensor)
    pairs = paddings.asnumpy().tolist() if isinstance(paddings, Tensor) else [sizes_of(each) for each in paddings]
    if mode.upper() == "CONSTANT":
        return ops.squeeze(pad_axes(ops.expand_dims(x, 0), pairs, constant_values), 0)
    kind = "reflect" if mode.upper() == "REFLECT" else "symmetric"
    for axis, pair in enumerate(pairs):
        places = np.pad(np.arange(x.shape[axis]), pair, kind).astype(np.int32)
        x = ops.gather(x, Tensor(places), axis)
    return x


@symbolic
def tf_gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    params, indices = as_tensor(params), ops.cast(as_tensor(indices), ms.int32)
    if not batch_dims:
        return ops.gather(params, indices, axis) if axis else look_up(params, indices)
    axis = batch_dims if axis is None else axis % params.ndim
    rows = [
        tf_gather(params[place], indices[place], axis=axis - 1, batch_dims=batch_dims - 1)
        for place in range(params.shape[0])
    ]
    return ops.stack(rows)


@symbolic
def tf_gather_nd(params, indices, batch_dims=0, name=None):
    params, indices = as_tensor(params), ops.cast(as_tensor(indices), ms.int32)
    if batch_dims:
        return ops.stack(
            [tf_gather_nd(params[place], indices[place], batch_dims - 1) for place in range(params.shape[0])]
        )
    return ops.gather_nd(params, indices)


@symbolic
def tf_where(condition, x=None, y=None, name=None):
    condition = as_tensor(condition)
    if x is None:
        return as_tensor(np.argwhere(condition.asnumpy()))
    x, y = both_tensors(x, y)
    return ops.where(ops.cast(condition, ms.bool_), x, y)


@symbolic
def tf_boolean_mask(tensor, mask, axis=None, name=None):
    x, mask = as_tensor(tensor), as_tensor(mask)
    axis = axis or 0
    places = np.flatnonzero(mask.asnumpy().reshape(-1)).astype(np.int32)
    shape = (*x.shape[:axis], -1, *x.shape[axis + mask.ndim :])
    return ops.gather(ops.reshape(x, shape), Tensor(places), axis)


@symbolic
def tf_one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    kind = as_dtype(dtype) or ms.float32
    on, off = (
        as_tensor(1 if on_value is None else on_value, kind),
        as_tensor(0 if off_value is None else off_value, kind),
    )
    return ops.one_hot(ops.cast(as_tensor(indices), ms.int32), int(depth), on, off, -1 if axis is None else axis)


@symbolic
def tf_broadcast_to(input, shape, name=None):
    return ops.broadcast_to(as_tensor(input), sizes_of(shape))


@symbolic
def tf_reverse(tensor, axis, name=None):
    return ops.flip(as_tensor(tensor), sizes_of(axis))


@symbolic
def tf_roll(input, shift, axis, name=None):
    x = as_tensor(input)
    for count, place in zip(sizes_of(shift), sizes_of(axis)):
        places = np.roll(np.arange(x.shape[place]), count).astype(np.int32)
        x = ops.gather(x, Tensor(places), place)
    return x


@symbolic
def tf_slice(input_, begin, size, name=None):
    x = as_tensor(input_)
    for axis, (start, count) in enumerate(zip(sizes_of(begin), sizes_of(size))):
        x = ops.narrow(x, axis, start, x.shape[axis] - start if count < 0 else count)
    return x


@symbolic
def tf_sort(values, axis=-1, direction="ASCENDING", name=None):
    return ops.sort(as_tensor(values), axis, direction.upper() == "DESCENDING")[0]


@symbolic
def tf_argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    return ops.cast(ops.sort(as_tensor(values), axis, direction.upper() == "DESCENDING")[1], ms.int32)


def tf_meshgrid(*args, indexing="xy", name=None):
    return [as_tensor(each) for each in np.meshgrid(*(as_tensor(each).asnumpy() for each in args), indexing=indexing)]


Unique = collections.namedtuple("Unique", "y idx")


def tf_unique(x, out_idx="int32", name=None):
    array = as_tensor(x).asnumpy()
    values, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.argsort(order)
    return Unique(as_tensor(values[order]), as_tensor(ranks[inverse].astype(np.int32)))


def tf_sequence_mask(lengths, maxlen=None, dtype="bool", name=None):
    lengths = as_tensor(lengths)
    longest = int(lengths.asnumpy().max()) if maxlen is None else int(maxlen)
    places = as_tensor(np.arange(longest), lengths.dtype)
    return ops.cast(ops.less(places, ops.expand_dims(lengths, -1)), as_dtype(dtype))


@symbolic
def tf_band_part(input, num_lower, num_upper, name=None):
    x = as_tensor(input)
    rows, columns = np.indices(x.shape[-2:])
    inside = (num_lower < 0) | (rows - columns <= num_lower)
    inside &= (num_upper < 0) | (columns - rows <= num_upper)
    return x * as_tensor(inside.astype(np.float32), x.dtype)


@symbolic
def tf_diag(diagonal, name=None, **_):
    x = as_tensor(diagonal)
    return ops.expand_dims(x, -1) * ops.eye(x.shape[-1], x.shape[-1], x.dtype)


@symbolic
def tf_diag_part(input, name=None, **_):
    x = as_tensor(input)
    size = min(x.shape[-2:])
    return ops.sum(x[..., :size, :size] * ops.eye(size, size, x.dtype), -1)


def tf_scatter_nd(indices, updates, shape, name=None):
    return ops.scatter_nd(ops.cast(as_tensor(indices), ms.int32), as_tensor(updates), sizes_of(shape))


def tf_tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """Kept where no index points, taken from the updates where one does."""
    tensor, indices = as_tensor(tensor), ops.cast(as_tensor(indices), ms.int32)
    updates = as_tensor(updates, tensor.dtype)
    hit = ops.scatter_nd(indices, ops.ones_like(updates), tensor.shape)
    return ops.where(hit > 0, ops.scatter_nd(indices, updates, tensor.shape), tensor)


def to_categorical(x, num_classes=None):
    """keras.utils.to_categorical."""
    labels = x.asnumpy() if isinstance(x, Tensor) else np.asarray(x)
    labels = labels.astype("int64")
    labels = labels[..., 0] if labels.ndim > 1 and labels.shape[-1] == 1 else labels
    made = np.eye(num_classes or labels.max() + 1, dtype=np.float32)[labels]
    return as_tensor(made) if isinstance(x, Tensor) else made


def tf_print(*inputs, **settings):
    """tf.print, which writes to stderr."""
    print(*(each.asnumpy() if isinstance(each, Tensor) else each for each in inputs), file=sys.stderr)


def plain_function(func=None, **_):
    """@tf.function and its kin: MindSpore runs the function as it is."""
    return func if func is not None else lambda function: function


def clear_session(free_memory=True):
    """keras.backend.clear_session."""
    Names.clear()


def tf_map_fn(fn, elems, dtype=None, **_):
    rows = [fn(map_structure(lambda each: each[place], elems)) for place in range(flat(elems)[0].shape[0])]
    if isinstance(rows[0], (list, tuple)):
        return type(rows[0])(ops.stack([as_tensor(row[place]) for row in rows]) for place in range(len(rows[0])))
    return ops.stack([as_tensor(row) for row in rows])


def tf_cond(pred, true_fn=None, false_fn=None, name=None):
    return true_fn() if bool(pred) else false_fn()


def tf_while_loop(cond, body, loop_vars, maximum_iterations=None, **_):
    values, count = tuple(loop_vars), 0
    while bool(cond(*values)) and (maximum_iterations is None or count < maximum_iterations):
        made = body(*values)
        values, count = tuple(made) if isinstance(made, (list, tuple)) else (made,), count + 1
    return values


def registered(package="Custom", name=None):
    """@keras.saving.register_keras_serializable: nothing is looked up by name here."""
    return package if isinstance(package, type) else lambda made: made


def floatx():
    """keras.config.floatx."""
    return "float32"


def backend_name():
    """keras.config.backend."""
    return "mindspore"


class Uids:
    counts = {}


def get_uid(prefix=""):
    """keras.backend.get_uid: 1, 2, … for each prefix."""
    Uids.counts[prefix] = Uids.counts.get(prefix, 0) + 1
    return Uids.counts[prefix]


def file_exists(path):
    return os.path.exists(path)


def name_scope(name, **_):
    """keras.name_scope: weights are named after their layers alone."""
    return contextlib.nullcontext()


def no_setting(*args, **kwargs):
    """What TensorFlow is told about its devices means nothing to MindSpore."""


def physical_devices(device_type=None):
    """tf.config.list_physical_devices: accelerators are MindSpore's own affair."""
    return [] if device_type not in (None, "CPU") else ["CPU:0"]
