"""tf.math and what TensorFlow has beside it: lists, numbers and arrays are taken as tensors."""

import collections
import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .activations import elu, gelu, leaky_relu, log_softmax, relu, relu6, selu, sigmoid, silu, softmax, softplus, tanh
from .graph import symbolic
from .nested_gradients import held
from .products import einsum, product
from .tensors import as_dtype, as_tensor, both_tensors, is_float


def by_one(function):
    """A function of one tensor."""

    def applied(x, name=None):
        return function(as_tensor(x))

    return symbolic(applied)


def by_two(function):
    """A function of two tensors of one type."""

    def applied(x, y, name=None):
        return function(*both_tensors(x, y))

    return symbolic(applied)


def axes_of(axis, x):
    if axis is None:
        return tuple(range(x.ndim))
    if isinstance(axis, Tensor):
        axis = axis.asnumpy().tolist()
    return tuple(int(each) % x.ndim for each in axis) if isinstance(axis, (list, tuple)) else (int(axis) % x.ndim,)


def by_axes(function):
    """A function that reduces some axes, or all."""

    def applied(input_tensor, axis=None, keepdims=False, name=None):
        x = as_tensor(input_tensor)
        axes = axes_of(axis, x)
        return function(x, axes, keepdims) if axes else x

    return symbolic(applied)


tf_abs = by_one(ops.abs)
tf_exp = by_one(ops.exp)
tf_log = by_one(ops.log)
tf_log1p = by_one(ops.log1p)
tf_expm1 = by_one(ops.expm1)
tf_sqrt = by_one(ops.sqrt)
tf_rsqrt = by_one(ops.rsqrt)
tf_square = by_one(ops.square)
tf_sin = by_one(ops.sin)
tf_cos = by_one(ops.cos)
tf_tan = by_one(ops.tan)
tf_asin = by_one(ops.asin)
tf_acos = by_one(ops.acos)
tf_atan = by_one(ops.atan)
tf_sinh = by_one(ops.sinh)
tf_cosh = by_one(ops.cosh)
tf_asinh = by_one(ops.asinh)
tf_acosh = by_one(ops.acosh)
tf_atanh = by_one(ops.atanh)
tf_sign = by_one(ops.sign)
tf_floor = by_one(ops.floor)
tf_ceil = by_one(ops.ceil)
tf_round = by_one(ops.round)
tf_erf = by_one(ops.erf)
tf_negative = by_one(ops.neg)
tf_reciprocal = by_one(ops.reciprocal)
tf_is_nan = by_one(ops.isnan)
tf_is_inf = by_one(ops.isinf)
tf_is_finite = by_one(ops.isfinite)
tf_logical_not = by_one(ops.logical_not)
tf_stop_gradient = by_one(held)
tf_identity = by_one(lambda x: x)
tf_add = by_two(ops.add)
tf_subtract = by_two(ops.sub)
tf_multiply = by_two(ops.mul)
tf_maximum = by_two(ops.maximum)
tf_minimum = by_two(ops.minimum)
tf_pow = by_two(ops.pow)
tf_atan2 = by_two(ops.atan2)
tf_floordiv = by_two(ops.floor_divide)
tf_floormod = by_two(ops.floor_mod)
tf_squared_difference = by_two(lambda x, y: ops.square(x - y))
tf_equal = by_two(ops.equal)
tf_not_equal = by_two(ops.not_equal)
tf_less = by_two(ops.less)
tf_less_equal = by_two(ops.less_equal)
tf_greater = by_two(ops.greater)
tf_greater_equal = by_two(ops.greater_equal)
tf_logical_and = by_two(ops.logical_and)
tf_logical_or = by_two(ops.logical_or)
tf_logical_xor = by_two(ops.logical_xor)
tf_reduce_sum = by_axes(lambda x, axes, keep: ops.sum(x, axes, keep).astype(x.dtype))
tf_reduce_max = by_axes(ops.amax)
tf_reduce_min = by_axes(ops.amin)
tf_reduce_any = by_axes(ops.any)
tf_reduce_all = by_axes(ops.all)


def divided(x, y):
    """Whole numbers are divided as float64 in TensorFlow."""
    if not is_float(x) and not is_float(y):
        x, y = ops.cast(x, ms.float64), ops.cast(y, ms.float64)
    return ops.div(x, y)


tf_divide = by_two(divided)


def mean_of(x, axes, keep):
    if is_float(x):
        return ops.mean(x, axes, keep)
    count = math.prod(x.shape[axis] for axis in axes)
    return ops.cast(ops.floor_divide(ops.sum(x, axes, keep), count), x.dtype)


tf_reduce_mean = by_axes(mean_of)


def product_of(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = ops.prod(x, axis, keep)
    return x


tf_reduce_prod = by_axes(product_of)


def variance_of(x, axes, keep):
    return ops.mean(ops.square(x - ops.mean(x, axes, True)), axes, keep)


tf_reduce_variance = by_axes(variance_of)
tf_reduce_std = by_axes(lambda x, axes, keep: ops.sqrt(variance_of(x, axes, keep)))
tf_reduce_euclidean_norm = by_axes(lambda x, axes, keep: ops.sqrt(ops.sum(x * x, axes, keep)))


def logsumexp_of(x, axes, keep):
    top = ops.stop_gradient(ops.amax(x, axes, True))
    made = ops.log(ops.sum(ops.exp(x - top), axes, True)) + top
    if keep:
        return made
    return ops.reshape(made, tuple(size for axis, size in enumerate(x.shape) if axis not in axes))


tf_reduce_logsumexp = by_axes(logsumexp_of)


@symbolic
def tf_divide_no_nan(x, y, name=None):
    x, y = both_tensors(x, y)
    is_zero = ops.equal(y, ops.zeros_like(y))
    return ops.where(is_zero, ops.zeros_like(x / ops.ones_like(y)), x / ops.where(is_zero, ops.ones_like(y), y))


@symbolic
def tf_matmul(a, b, transpose_a=False, transpose_b=False, name=None, **_):
    a, b = both_tensors(a, b)
    a = ops.swapaxes(a, -1, -2) if transpose_a else a
    return product(a, ops.swapaxes(b, -1, -2) if transpose_b else b)


@symbolic
def tf_einsum(equation, *inputs, **_):
    return einsum(equation, *(as_tensor(each) for each in inputs))


@symbolic
def tf_tensordot(a, b, axes, name=None):
    a, b = both_tensors(a, b)
    if isinstance(axes, int):
        axes = (tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes)))
    first, second = ([each] if isinstance(each, int) else list(each) for each in axes)
    first, second = [each % a.ndim for each in first], [each % b.ndim for each in second]
    left = [axis for axis in range(a.ndim) if axis not in first]
    right = [axis for axis in range(b.ndim) if axis not in second]
    size = math.prod(a.shape[axis] for axis in first)
    out = product(
        ops.reshape(ops.transpose(a, (*left, *first)), (-1, size)),
        ops.reshape(ops.transpose(b, (*second, *right)), (size, -1)),
    )
    return ops.reshape(out, tuple(a.shape[axis] for axis in left) + tuple(b.shape[axis] for axis in right))


@symbolic
def tf_clip_by_value(t, clip_value_min, clip_value_max, name=None):
    t = as_tensor(t)
    low, high = as_tensor(clip_value_min, t.dtype), as_tensor(clip_value_max, t.dtype)
    return ops.minimum(ops.maximum(t, low), high)


@symbolic
def tf_norm(tensor, ord="euclidean", axis=None, keepdims=False, name=None):
    x = as_tensor(tensor)
    axes = axes_of(axis, x)
    if ord in ("euclidean", "fro", 2):
        return ops.sqrt(ops.sum(x * x, axes, keepdims))
    if ord == 1:
        return ops.sum(ops.abs(x), axes, keepdims)
    if ord == np.inf:
        return ops.amax(ops.abs(x), axes, keepdims)
    return ops.pow(ops.sum(ops.pow(ops.abs(x), ord), axes, keepdims), 1 / ord)


@symbolic
def tf_argmax(input, axis=None, output_type="int64", name=None):
    return ops.cast(ops.argmax(as_tensor(input), 0 if axis is None else int(axis)), as_dtype(output_type))


@symbolic
def tf_argmin(input, axis=None, output_type="int64", name=None):
    return ops.cast(ops.argmin(as_tensor(input), 0 if axis is None else int(axis)), as_dtype(output_type))


@symbolic
def tf_cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    x = as_tensor(x)
    x = ops.flip(x, (axis,)) if reverse else x
    made = ops.cumsum(x, axis)
    made = made - x if exclusive else made
    return ops.flip(made, (axis,)) if reverse else made


@symbolic
def tf_cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    x = as_tensor(x)
    x = ops.flip(x, (axis,)) if reverse else x
    made = ops.cumprod(x, axis)
    if exclusive:
        ones = ops.ones_like(ops.narrow(made, axis, 0, 1))
        made = ops.cat([ones, ops.narrow(made, axis, 0, made.shape[axis] - 1)], axis)
    return ops.flip(made, (axis,)) if reverse else made


@symbolic
def tf_add_n(inputs, name=None):
    out = as_tensor(inputs[0])
    for each in inputs[1:]:
        out = out + each
    return out


TopK = collections.namedtuple("TopK", "values indices")


@symbolic
def tf_top_k(input, k=1, sorted=True, index_type=None, name=None):
    values, indices = ops.topk(as_tensor(input), int(k))
    return TopK(values, ops.cast(indices, ms.int32))


@symbolic
def tf_l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    x = as_tensor(x)
    axes = axes_of(axis if dim is None else dim, x)
    return x * ops.rsqrt(ops.maximum(ops.sum(x * x, axes, True), as_tensor(epsilon, x.dtype)))


@symbolic
def tf_moments(x, axes, shift=None, keepdims=False, name=None):
    x = as_tensor(x)
    axes = axes_of(axes, x)
    mean = held(ops.mean(x, axes, True))  # as TensorFlow has it
    return ops.mean(x, axes, keepdims), ops.mean(ops.square(x - mean), axes, keepdims)


def tf_l2_loss(t, name=None):
    return ops.sum(ops.square(as_tensor(t))) / 2


def tf_gelu(features, approximate=False, name=None):
    return gelu(features, approximate)


def tf_leaky_relu(features, alpha=0.2, name=None):
    return leaky_relu(features, alpha)


def tf_softmax(logits, axis=None, name=None):
    return softmax(logits, -1 if axis is None else axis)


def tf_log_softmax(logits, axis=None, name=None):
    return log_softmax(logits, -1 if axis is None else axis)


def tf_relu(features, name=None):
    return relu(features)


def tf_relu6(features, name=None):
    return relu6(features)


def tf_elu(features, name=None):
    return elu(features)


def tf_selu(features, name=None):
    return selu(features)


def tf_silu(features, beta=1.0, name=None):
    return features * sigmoid(features * beta) if beta != 1.0 else silu(features)


def tf_sigmoid(x, name=None):
    return sigmoid(x)


def tf_tanh(x, name=None):
    return tanh(x)


def tf_softplus(features, name=None):
    return softplus(features)


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The gradient is softmax(logits) - labels, as TensorFlow's: also of labels that do not add up to one."""
    logits = as_tensor(logits)
    labels = as_tensor(labels, logits.dtype)
    whole = ops.logsumexp(logits, axis)
    rest = ops.stop_gradient(1 - ops.sum(labels, axis)) * (whole - ops.stop_gradient(whole))  # 0, but for its gradient
    return rest - ops.sum(labels * log_softmax(logits, axis), axis)


def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    logits = as_tensor(logits)
    one, zero = as_tensor(1.0, logits.dtype), as_tensor(0.0, logits.dtype)
    chosen = ops.one_hot(ops.cast(as_tensor(labels), ms.int32), logits.shape[-1], one, zero, -1)
    return -ops.sum(chosen * log_softmax(logits), -1)


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    logits = as_tensor(logits)
    labels = as_tensor(labels, logits.dtype)
    return ops.relu(logits) - logits * labels + ops.log1p(ops.exp(-ops.abs(logits)))
