"""Functions of keras.ops that differ from TensorFlow's of the same meaning."""

import mindspore as ms
from mindspore import ops

from .activations import gelu
from .functions_math import by_axes, mean_of, product_of, variance_of
from .functions_shape import tf_concat, tf_gather, tf_one_hot
from .graph import symbolic
from .tensors import as_tensor, is_float


def ops_concatenate(xs, axis=0):
    return tf_concat(xs, axis)


def ops_one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    return tf_one_hot(x, num_classes, axis=axis, dtype=dtype)


@symbolic
def ops_argmax(x, axis=None, keepdims=False):
    x = as_tensor(x)
    made = ops.cast(ops.argmax(ops.reshape(x, (-1,)) if axis is None else x, 0 if axis is None else axis), ms.int32)
    return ops.expand_dims(made, axis) if keepdims and axis is not None else made


@symbolic
def ops_argmin(x, axis=None, keepdims=False):
    return ops_argmax(-as_tensor(x), axis, keepdims)


def ops_take(x, indices, axis=None):
    return tf_gather(x if axis is not None else ops.reshape(as_tensor(x), (-1,)), indices, axis=axis or 0)


def ops_gelu(x, approximate=True):
    return gelu(x, approximate)


@symbolic
def ops_flip(x, axis=None):
    x = as_tensor(x)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return ops.flip(x, axes)


@symbolic
def ops_swapaxes(x, axis1, axis2):
    return ops.swapaxes(as_tensor(x), axis1, axis2)


@symbolic
def ops_normalize(x, axis=-1, order=2, epsilon=1e-12):
    x = as_tensor(x)
    norm = ops.pow(ops.sum(ops.pow(ops.abs(x), order), axis, True), 1.0 / order)
    return x / ops.maximum(norm, as_tensor(epsilon, x.dtype))


class SeedGenerator:
    """keras.random.SeedGenerator: random numbers come from one generator here."""

    def __init__(self, seed=None, name=None, **_):
        self.seed = seed

    def next(self, ordered=True):
        return self.seed


def measured(x):
    """keras.ops takes the mean and the spread of whole numbers and of truth values as floats."""
    return x if is_float(x) else ops.cast(x, ms.float32)


def as_countable(x):
    """keras.ops adds and multiplies truth values and short whole numbers as int32."""
    return ops.cast(x, ms.int32) if x.dtype in (ms.bool_, ms.int8, ms.int16, ms.uint8, ms.uint16) else x


def without_truth(x):
    """keras.backend takes means of truth values alone as floats."""
    return ops.cast(x, ms.float32) if x.dtype == ms.bool_ else x


def sum_of(x, axes, keep):
    return ops.sum(x, axes, keep).astype(x.dtype)


ops_mean = by_axes(lambda x, axes, keep: mean_of(measured(x), axes, keep))
ops_std = by_axes(lambda x, axes, keep: ops.sqrt(variance_of(measured(x), axes, keep)))
ops_var = by_axes(lambda x, axes, keep: variance_of(measured(x), axes, keep))
ops_sum = by_axes(lambda x, axes, keep: sum_of(as_countable(x), axes, keep))
ops_prod = by_axes(lambda x, axes, keep: product_of(as_countable(x), axes, keep))
backend_mean = by_axes(lambda x, axes, keep: mean_of(without_truth(x), axes, keep))
backend_std = by_axes(lambda x, axes, keep: ops.sqrt(variance_of(without_truth(x), axes, keep)))
backend_var = by_axes(lambda x, axes, keep: variance_of(without_truth(x), axes, keep))
