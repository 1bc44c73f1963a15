"""keras.ops with NumPy's meaning, and what keras.backend calls otherwise."""

import itertools
import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .activations import ACTIVATIONS
from .functions_math import tf_argmax, tf_argmin, tf_matmul, tf_reduce_max, tf_reduce_mean, tf_reduce_sum
from .functions_nn import tf_avg_pool, tf_convolution, tf_depthwise_conv2d, tf_max_pool
from .functions_shape import sizes_of, tf_concat, tf_expand_dims, tf_pad, tf_reshape, tf_transpose
from .functions_values import array_of
from .graph import symbolic
from .losses import binary_crossentropy
from .random_values import Chance
from .tensors import as_dtype, as_tensor, both_tensors, is_number, to_numpy


@symbolic
def ops_diagonal(x, offset=0, axis1=0, axis2=1):
    x = as_tensor(x)
    axis1, axis2 = axis1 % x.ndim, axis2 % x.ndim
    x = ops.transpose(x, (*(axis for axis in range(x.ndim) if axis not in (axis1, axis2)), axis1, axis2))
    rows, columns = x.shape[-2:]
    count = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    places = np.arange(count) * (columns + 1) + (offset if offset >= 0 else -offset * columns)
    return ops.gather(ops.reshape(x, (*x.shape[:-2], rows * columns)), Tensor(places.astype(np.int32)), -1)


def ops_diff(a, n=1, axis=-1):
    a = as_tensor(a)
    for _ in range(n):
        count = a.shape[axis]
        a = ops.narrow(a, axis % a.ndim, 1, count - 1) - ops.narrow(a, axis % a.ndim, 0, count - 1)
    return a


@symbolic
def ops_full_like(x, fill_value, dtype=None):
    x = as_tensor(x)
    return ops.zeros(x.shape, as_dtype(dtype) or x.dtype) + as_tensor(fill_value, as_dtype(dtype) or x.dtype)


def ops_hstack(xs):
    return tf_concat(xs, 0 if len(xs[0].shape) == 1 else 1)


def ops_vstack(xs):
    return tf_concat([tf_expand_dims(each, 0) if len(each.shape) == 1 else each for each in xs], 0)


@symbolic
def ops_inner(x1, x2):
    x1, x2 = both_tensors(x1, x2)
    return tf_matmul(x1, ops.transpose(x2, tuple(reversed(range(x2.ndim))))) if x1.ndim > 1 else ops.sum(x1 * x2)


@symbolic
def ops_outer(x1, x2):
    x1, x2 = both_tensors(x1, x2)
    return ops.reshape(x1, (-1, 1)) * ops.reshape(x2, (1, -1))


@symbolic
def ops_isclose(x1, x2, rtol=1e-5, atol=1e-8, equal_nan=False):
    x1, x2 = both_tensors(x1, x2)
    return ops.abs(x1 - x2) <= atol + rtol * ops.abs(x2)


@symbolic
def ops_log10(x):
    return ops.log(as_tensor(x)) / math.log(10)


@symbolic
def ops_log2(x):
    return ops.log(as_tensor(x)) / math.log(2)


@symbolic
def ops_logaddexp(x1, x2):
    x1, x2 = both_tensors(x1, x2)
    return ops.maximum(x1, x2) + ops.log1p(ops.exp(-ops.abs(x1 - x2)))


@symbolic
def ops_median(x, axis=None, keepdims=False):
    return ops_quantile(x, 0.5, axis, keepdims=keepdims)


@symbolic
def ops_quantile(x, q, axis=None, method="linear", keepdims=False):
    """Between the two nearest, for one share."""
    x = as_tensor(x)
    rank = x.ndim
    values = ops.reshape(x, (-1,)) if axis is None else x
    place = 0 if axis is None else axis % rank
    ordered = ops.sort(values, place)[0]
    at = float(q) * (ordered.shape[place] - 1)
    low, high = math.floor(at), math.ceil(at)
    first, second = (ops.narrow(ordered, place, each, 1) for each in (low, high))
    made = first + (second - first) * (at - low)
    if keepdims:
        return made if axis is not None else ops.reshape(made, (1,) * rank)
    return ops.squeeze(made, place)


@symbolic
def ops_moveaxis(x, source, destination):
    x = as_tensor(x)
    sources = [each % x.ndim for each in ((source,) if is_number(source) else source)]
    targets = [each % x.ndim for each in ((destination,) if is_number(destination) else destination)]
    rest = [each for each in range(x.ndim) if each not in sources]
    for target, place in sorted(zip(targets, sources)):
        rest.insert(target, place)
    return ops.transpose(x, tuple(rest))


@symbolic
def ops_nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    x = as_tensor(x)
    x = ops.where(ops.isnan(x), as_tensor(nan, x.dtype), x)
    most = 3.4028235e38 if posinf is None else posinf
    least = -3.4028235e38 if neginf is None else neginf
    x = ops.where(ops.logical_and(ops.isinf(x), x > 0), as_tensor(most, x.dtype), x)
    return ops.where(ops.logical_and(ops.isinf(x), x < 0), as_tensor(least, x.dtype), x)


def ops_nonzero(x):
    return tuple(as_tensor(each.astype(np.int32)) for each in np.nonzero(array_of(x)))


def ops_pad(x, pad_width, mode="constant", constant_values=None):
    pairs = pad_width if not is_number(pad_width) else ((pad_width, pad_width),) * len(x.shape)
    return tf_pad(x, pairs, mode.upper(), constant_values or 0)


def ops_ravel(x):
    return tf_reshape(x, (-1,))


@symbolic
def ops_rot90(array, k=1, axes=(0, 1)):
    x = as_tensor(array)
    first, second = (each % x.ndim for each in axes)
    for _ in range(k % 4):
        x = ops.flip(ops.swapaxes(x, first, second), (first,))
    return x


def ops_scatter(indices, values, shape):
    return ops.scatter_nd(ops.cast(as_tensor(indices), ms.int32), as_tensor(values), sizes_of(shape))


@symbolic
def ops_slice(inputs, start_indices, shape):
    x = as_tensor(inputs)
    for axis, (start, size) in enumerate(zip(sizes_of(start_indices), sizes_of(shape))):
        x = ops.narrow(x, axis, start, size)
    return x


@symbolic
def ops_slice_update(inputs, start_indices, updates):
    """What stands around the updates stays."""
    x, updates = as_tensor(inputs), as_tensor(updates, as_tensor(inputs).dtype)
    pairs = [(start, size - start - own) for start, size, own in zip(sizes_of(start_indices), x.shape, updates.shape)]
    mask = tf_pad(ops.ones_like(updates), pairs)
    return x * (1 - mask) + tf_pad(updates, pairs)


def ops_split(x, indices_or_sections, axis=0):
    x = as_tensor(x)
    axis = axis % x.ndim
    if is_number(indices_or_sections):
        size = x.shape[axis] // int(indices_or_sections)
        ends = [size * (place + 1) for place in range(int(indices_or_sections) - 1)]
    else:
        ends = list(sizes_of(indices_or_sections))
    bounds = [0, *ends, x.shape[axis]]
    return [ops.narrow(x, axis, start, end - start) for start, end in itertools.pairwise(bounds)]


@symbolic
def ops_take_along_axis(x, indices, axis=None):
    x, indices = as_tensor(x), ops.cast(as_tensor(indices), ms.int32)
    if axis is None:
        return ops.gather(ops.reshape(x, (-1,)), ops.reshape(indices, (-1,)), 0)
    axis = axis % x.ndim
    one, zero = as_tensor(1.0, x.dtype), as_tensor(0.0, x.dtype)
    chosen = ops.one_hot(ops.moveaxis(indices, axis, -1), x.shape[axis], one, zero, -1)
    return ops.moveaxis(ops.sum(chosen * ops.expand_dims(ops.moveaxis(x, axis, -1), -2), -1), -1, axis)


def triangle(shape, k, is_lower):
    rows, columns = np.indices(shape)
    return (columns - rows <= k if is_lower else columns - rows >= k).astype(np.float32)


@symbolic
def ops_tril(x, k=0):
    x = as_tensor(x)
    return x * as_tensor(triangle(x.shape[-2:], k, True), x.dtype)


@symbolic
def ops_triu(x, k=0):
    x = as_tensor(x)
    return x * as_tensor(triangle(x.shape[-2:], k, False), x.dtype)


def ops_tri(N, M=None, k=0, dtype=None):
    return as_tensor(triangle((N, M or N), k, True), dtype)


@symbolic
def ops_unstack(x, num=None, axis=0):
    x = as_tensor(x)
    axis = axis % x.ndim
    return [ops.squeeze(ops.narrow(x, axis, place, 1), axis) for place in range(x.shape[axis])]


def is_first_given(data_format):
    return "NC" if data_format == "channels_first" else None


def ops_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    return tf_convolution(inputs, kernel, strides, padding.upper(), is_first_given(data_format), dilation_rate)


def ops_depthwise_conv(inputs, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    return tf_depthwise_conv2d(inputs, kernel, strides, padding.upper(), is_first_given(data_format), dilation_rate)


def ops_max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return tf_max_pool(inputs, pool_size, strides or pool_size, padding.upper(), is_first_given(data_format))


def ops_average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    return tf_avg_pool(inputs, pool_size, strides or pool_size, padding.upper(), is_first_given(data_format))


@symbolic
def ops_binary_crossentropy(target, output, from_logits=False):
    """An element each: the loss of the same name takes means."""
    target, output = as_tensor(target), as_tensor(output)
    made = binary_crossentropy(ops.expand_dims(target, -1), ops.expand_dims(output, -1), from_logits)
    return made


def ops_multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False, num_tokens=None):
    one, zero = as_tensor(1.0), as_tensor(0.0)
    made = ops.one_hot(ops.cast(as_tensor(inputs), ms.int32), int(num_classes or num_tokens), one, zero, -1)
    return ops.amax(made, -2)


def ops_ndim(x):
    return len(x.shape)


def ops_average(x, axis=None, weights=None):
    if weights is None:
        return tf_reduce_mean(x, axis)
    return tf_reduce_sum(x * as_tensor(weights), axis) / tf_reduce_sum(as_tensor(weights), axis)


def ops_ptp(x, axis=None, keepdims=False):
    return tf_reduce_max(x, axis, keepdims) + tf_reduce_max(-as_tensor(x), axis, keepdims)


def backend_permute(x, pattern):
    return tf_transpose(x, pattern)


def backend_flatten(x):
    return tf_reshape(x, (-1,))


def backend_batch_flatten(x):
    return tf_reshape(x, (-1, math.prod(x.shape[1:])))


def backend_int_shape(x):
    return tuple(x.shape)


def backend_get_value(x):
    return to_numpy(x)


def backend_switch(condition, then_expression, else_expression):
    chosen = then_expression if bool(condition) else else_expression
    return chosen() if callable(chosen) else chosen


def backend_random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    return as_tensor((Chance.generator.random(sizes_of(shape)) < p).astype(np.float32), dtype)


def backend_dtype(x):
    return str(x.dtype).lower().rpartition(".")[2]


def epsilon():
    """keras.config.epsilon."""
    return 1e-7


def cast_to_floatx(x):
    return as_tensor(x, "float32") if isinstance(x, Tensor) else np.asarray(x, np.float32)


def backend_argmax(x, axis=-1):
    return tf_argmax(x, axis)


def backend_argmin(x, axis=-1):
    return tf_argmin(x, axis)


def backend_expand_dims(x, axis=-1):
    return tf_expand_dims(x, axis)


def backend_concatenate(tensors, axis=-1):
    return tf_concat(tensors, axis)


def activation_name(activation):
    """keras.activations.serialize."""
    return next((name for name, each in ACTIVATIONS.items() if each is activation), None) or activation.__name__
