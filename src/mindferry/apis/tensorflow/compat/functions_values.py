"""TensorFlow's functions that count, choose, check and go through values."""

import contextlib

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .functions_math import tf_matmul
from .functions_shape import sizes_of
from .graph import is_symbolic, symbolic
from .tensors import as_dtype, as_tensor, dtype_max, dtype_min, flat, like_tensor, map_structure


def array_of(value):
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


def tf_bincount(arr, weights=None, minlength=None, maxlength=None, dtype="int32", name=None, **_):
    counted = np.bincount(
        array_of(arr).reshape(-1),
        None if weights is None else array_of(weights).reshape(-1),
        0 if minlength is None else int(minlength),
    )
    counted = counted if maxlength is None else counted[: int(maxlength)]
    return as_tensor(counted.astype(np.int32) if weights is None else counted.astype(np.float32))


def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype="int32", name=None):
    rows, columns = array_of(labels).reshape(-1).astype(int), array_of(predictions).reshape(-1).astype(int)
    size = int(num_classes) if num_classes is not None else max(rows.max(), columns.max()) + 1
    made = np.zeros((size, size))
    np.add.at(made, (rows, columns), 1 if weights is None else array_of(weights).reshape(-1))
    return as_tensor(made, dtype)


@symbolic
def tf_count_nonzero(input, axis=None, keepdims=None, dtype="int64", name=None):
    x = ops.cast(as_tensor(input) != 0, ms.float32)
    axes = tuple(range(x.ndim)) if axis is None else axis
    return ops.cast(ops.sum(x, axes, bool(keepdims)), as_dtype(dtype))


def segment_matrix(ids, count):
    """A row for each segment, with ones where an id is its own."""
    numbers = array_of(ids).reshape(-1)
    return (np.arange(count)[:, None] == numbers[None, :]).astype(np.float32)


def segment_sum(data, segment_ids, num_segments=None, name=None, sorted=False):
    data = as_tensor(data)
    count = int(array_of(segment_ids).max()) + 1 if num_segments is None else int(num_segments)
    rows = as_tensor(segment_matrix(segment_ids, count), data.dtype)
    made = tf_matmul(rows, ops.reshape(data, (data.shape[0], -1)))
    return ops.reshape(made, (count, *data.shape[1:]))


def segment_mean(data, segment_ids, num_segments=None, name=None):
    total = segment_sum(data, segment_ids, num_segments)
    sizes = np.bincount(array_of(segment_ids).reshape(-1), minlength=total.shape[0])
    sizes = np.maximum(sizes, 1).reshape(-1, *(1,) * (total.ndim - 1))
    return total / as_tensor(sizes.astype(np.float32), total.dtype)


def segment_best(data, segment_ids, num_segments, function, least):
    data, ids = as_tensor(data), array_of(segment_ids).reshape(-1)
    count = int(ids.max()) + 1 if num_segments is None else int(num_segments)
    rows = []
    for number in range(count):
        places = np.flatnonzero(ids == number).astype(np.int32)
        empty = ops.full(data.shape[1:], least, dtype=data.dtype)
        rows.append(function(ops.gather(data, Tensor(places), 0), 0) if len(places) else empty)
    return ops.stack(rows)


def segment_max(data, segment_ids, num_segments=None, name=None, sorted=False):
    return segment_best(data, segment_ids, num_segments, ops.amax, -3.4028235e38)


def segment_min(data, segment_ids, num_segments=None, name=None, sorted=False):
    return segment_best(data, segment_ids, num_segments, ops.amin, 3.4028235e38)


@symbolic
def tf_xlogy(x, y, name=None):
    x, y = as_tensor(x), as_tensor(y)
    is_zero = x == 0
    return ops.where(is_zero, ops.zeros_like(x), x * ops.log(ops.where(is_zero, ops.ones_like(y), y)))


@symbolic
def tf_xdivy(x, y, name=None):
    x, y = as_tensor(x), as_tensor(y)
    is_zero = x == 0
    return ops.where(is_zero, ops.zeros_like(x), x / ops.where(is_zero, ops.ones_like(y), y))


@symbolic
def tf_multiply_no_nan(x, y, name=None):
    x, y = as_tensor(x), as_tensor(y)
    is_lost = ops.logical_and(y == 0, ops.logical_not(ops.isfinite(x)))
    return ops.where(is_lost, ops.zeros_like(x), x) * y


@symbolic
def tf_reciprocal_no_nan(x, name=None):
    x = as_tensor(x)
    is_zero = x == 0
    return ops.where(is_zero, ops.zeros_like(x), 1 / ops.where(is_zero, ops.ones_like(x), x))


def tf_polyval(coeffs, x, name=None):
    made = like_tensor(coeffs[0], x) * ops.ones_like(as_tensor(x))
    for each in coeffs[1:]:
        made = made * x + each
    return made


def tf_searchsorted(sorted_sequence, values, side="left", out_type="int32", name=None):
    rows, wanted = array_of(sorted_sequence), array_of(values)
    if rows.ndim == 1:
        return as_tensor(np.searchsorted(rows, wanted, side), out_type)
    found = [np.searchsorted(row, each, side) for row, each in zip(rows, wanted, strict=True)]
    return as_tensor(np.stack(found), out_type)


def tf_invert_permutation(x, name=None):
    return as_tensor(np.argsort(array_of(x)).astype(np.int32))


def tf_histogram_fixed_width(values, value_range, nbins=100, dtype="int32", name=None):
    low, high = (float(array_of(each)) for each in value_range)
    clipped = np.clip(array_of(values).reshape(-1), low, np.nextafter(high, low))
    return as_tensor(np.histogram(clipped, int(nbins), (low, high))[0], dtype)


def tf_unique_with_counts(x, out_idx="int32", name=None):
    values, first, inverse, counts = np.unique(array_of(x), return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    ranks = np.argsort(order)
    return as_tensor(values[order]), as_tensor(ranks[inverse].astype(np.int32)), as_tensor(counts[order], out_idx)


def tf_tensor_scatter_nd_add(tensor, indices, updates, name=None):
    tensor = as_tensor(tensor)
    places = ops.cast(as_tensor(indices), ms.int32)
    return tensor + ops.scatter_nd(places, as_tensor(updates, tensor.dtype), tensor.shape)


def tf_tensor_scatter_nd_sub(tensor, indices, updates, name=None):
    return tf_tensor_scatter_nd_add(tensor, indices, -as_tensor(updates, as_tensor(tensor).dtype))


def tf_reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """The first few of each row in the opposite order; batches come first."""
    x, lengths = as_tensor(input), array_of(seq_lengths)
    places = np.tile(np.arange(x.shape[1]), (len(lengths), 1)).astype(np.int32)
    for row, length in enumerate(lengths):
        places[row, :length] = places[row, :length][::-1]
    return ops.stack([ops.gather(x[row], Tensor(places[row]), 0) for row in range(len(lengths))])


def tf_dynamic_partition(data, partitions, num_partitions, name=None):
    data, numbers = as_tensor(data), array_of(partitions)
    rows = ops.reshape(data, (-1, *data.shape[numbers.ndim :]))
    found = [np.flatnonzero(numbers.reshape(-1) == each).astype(np.int32) for each in range(int(num_partitions))]
    return [ops.gather(rows, Tensor(places), 0) for places in found]


def rows_of(elems):
    return [map_structure(lambda each: as_tensor(each)[place], elems) for place in range(flat(elems)[0].shape[0])]


def tf_scan(fn, elems, initializer=None, reverse=False, **_):
    rows = rows_of(elems)
    rows = rows[::-1] if reverse else rows
    state, made = (initializer, []) if initializer is not None else (rows[0], [rows[0]])
    for row in rows if initializer is not None else rows[1:]:
        state = fn(state, row)
        made.append(state)
    made = made[::-1] if reverse else made
    return map_structure(lambda *parts: ops.stack([as_tensor(each) for each in parts]), *made)


def tf_foldl(fn, elems, initializer=None, **_):
    rows = rows_of(elems)
    state, rows = (initializer, rows) if initializer is not None else (rows[0], rows[1:])
    for row in rows:
        state = fn(state, row)
    return state


def tf_foldr(fn, elems, initializer=None, **_):
    rows = rows_of(elems)[::-1]
    state, rows = (initializer, rows) if initializer is not None else (rows[0], rows[1:])
    for row in rows:
        state = fn(state, row)
    return state


def tf_case(pred_fn_pairs, default=None, exclusive=False, strict=False, name=None):
    for condition, function in pred_fn_pairs:
        if bool(condition):
            return function()
    return default()


def tf_switch_case(branch_index, branch_fns, default=None, name=None):
    table = dict(enumerate(branch_fns)) if not isinstance(branch_fns, dict) else branch_fns
    last = default if default is not None else list(table.values())[-1]
    return table.get(int(array_of(branch_index)), last)()


class TensorArray:
    """tf.TensorArray: a list; each write gives the array itself."""

    def __init__(self, dtype=None, size=None, dynamic_size=None, clear_after_read=None, element_shape=None, **_):
        self.dtype, self.rows = dtype, [None] * (0 if size is None else int(array_of(size)))

    def write(self, index, value, name=None):
        place = int(array_of(index))
        self.rows += [None] * (place + 1 - len(self.rows))
        self.rows[place] = as_tensor(value, self.dtype)
        return self

    def read(self, index, name=None):
        return self.rows[int(array_of(index))]

    def size(self, name=None):
        return len(self.rows)

    def stack(self, name=None):
        return ops.stack(self.rows)

    def concat(self, name=None):
        return ops.cat(self.rows, 0)

    def unstack(self, value, name=None):
        self.rows = rows_of(as_tensor(value, self.dtype))
        return self

    def gather(self, indices, name=None):
        return ops.stack([self.rows[int(each)] for each in array_of(indices)])


def tf_ensure_shape(x, shape, name=None):
    wanted = tuple(shape)
    if len(x.shape) != len(wanted) or any(None not in pair and pair[0] != pair[1] for pair in zip(x.shape, wanted)):
        raise ValueError(f"Shape {tuple(x.shape)} must have {wanted}")
    return x


def tf_is_tensor(x):
    return isinstance(x, Tensor) or is_symbolic(x)


def executing_eagerly():
    return True


def no_context(*args, **kwargs):
    """tf.device, tf.control_dependencies, tf.init_scope: MindSpore runs one operation after the other, where it was told to."""
    return contextlib.nullcontext()


def tf_group(*inputs, **_):
    return None


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """tf.numpy_function: a function of arrays; without arguments a decorator."""
    if inp is None:
        return decorator_of(numpy_function, func, Tout)
    made = func(*(array_of(each) for each in inp))
    return typed_results(made, Tout)


def py_function(func=None, inp=None, Tout=None, name=None):
    """tf.py_function: a function of tensors; without arguments a decorator."""
    if inp is None:
        return decorator_of(py_function, func, Tout)
    return typed_results(func(*(as_tensor(each) for each in inp)), Tout)


def decorator_of(call, func, types):
    def decorate(function):
        return lambda *args: call(function, args, types)

    return decorate if func is None else decorate(func)


def typed_results(made, types):
    if isinstance(types, (list, tuple)):
        given = made if isinstance(made, (list, tuple)) else [made]
        return [as_tensor(each, kind) for each, kind in zip(given, types, strict=True)]
    return as_tensor(made, types)


def ensured(is_right, said):
    """What tf.debugging's assertions do."""
    if not bool(np.all(is_right)):
        raise ValueError(f"assertion failed: {said}")


def assert_equal(x, y, message=None, summarize=None, name=None):
    ensured(array_of(x) == array_of(y), message or "x == y")


def assert_none_equal(x, y, summarize=None, message=None, name=None):
    ensured(array_of(x) != array_of(y), message or "x != y")


def assert_less(x, y, message=None, summarize=None, name=None):
    ensured(array_of(x) < array_of(y), message or "x < y")


def assert_less_equal(x, y, message=None, summarize=None, name=None):
    ensured(array_of(x) <= array_of(y), message or "x <= y")


def assert_greater(x, y, message=None, summarize=None, name=None):
    ensured(array_of(x) > array_of(y), message or "x > y")


def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    ensured(array_of(x) >= array_of(y), message or "x >= y")


def assert_positive(x, message=None, summarize=None, name=None):
    ensured(array_of(x) > 0, message or "x > 0")


def assert_non_negative(x, message=None, summarize=None, name=None):
    ensured(array_of(x) >= 0, message or "x >= 0")


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    near = np.allclose(array_of(x), array_of(y), rtol=rtol or 1.2e-6, atol=atol or 1.2e-6)
    ensured(near, message or "x and y are near")


def assert_rank(x, rank, message=None, name=None):
    ensured(len(x.shape) == int(rank), message or f"rank {rank}")


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Numbers have to be the sizes, letters the same size wherever they stand."""
    known = {}
    for x, shape in shapes.items() if isinstance(shapes, dict) else shapes:
        ensured(len(x.shape) == len(shape), message or f"shape {shape}")
        for size, wanted in zip(x.shape, shape):
            wanted = known.setdefault(wanted, size) if isinstance(wanted, str) else wanted
            ensured(wanted is None or size == wanted, message or f"shape {shape}")


def check_numerics(tensor, message="", name=None):
    x = as_tensor(tensor)
    ensured(np.isfinite(x.asnumpy()), f"{message} : Tensor had NaN or Inf values")
    return x


def tf_assert(condition, data=None, summarize=None, name=None):
    ensured(array_of(condition), " ".join(map(str, data or [])))


def tf_unravel_index(indices, dims, name=None):
    return as_tensor(np.stack(np.unravel_index(array_of(indices), sizes_of(dims))).astype(np.int32))


def tf_strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, var=None, name=None):
    """tf.strided_slice; the masks name the ends that are open."""
    begin, end = ([int(each) for each in array_of(given)] for given in (begin, end))
    steps = [1] * len(begin) if strides is None else [int(each) for each in array_of(strides)]
    parts = [
        slice(None if begin_mask >> place & 1 else first, None if end_mask >> place & 1 else last, step)
        for place, (first, last, step) in enumerate(zip(begin, end, steps))
    ]
    return as_tensor(input_)[tuple(parts)]


def tf_saturate_cast(value, dtype, name=None):
    """tf.saturate_cast: what is beyond the type's ends becomes its end."""
    x = as_tensor(value)
    return ops.cast(ops.clamp(x, dtype_min(dtype), dtype_max(dtype)), as_dtype(dtype))
