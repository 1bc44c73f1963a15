"""Normalization and activations as functions, with torch's arguments."""

import math

import mindspore as ms
from mindspore import ops

from .functional_conv import pad
from .functions_reduce import mean_over, sum_over
from .linalg_lu import norm_over


def standardized(x, axes, eps):
    """(x - mean) / sqrt(variance + eps), and both."""
    mean = mean_over(x, axes, True)
    variance = mean_over(ops.square(x - mean), axes, True)
    return (x - mean) * ops.rsqrt(variance + eps), mean, variance


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """torch.nn.functional.layer_norm."""
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    x, _, _ = standardized(input, tuple(range(input.ndim - count, input.ndim)), eps)
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """torch.native_layer_norm: (result, mean, 1 / deviation)."""
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    _, mean, variance = standardized(input, axes, eps)
    return layer_norm(input, normalized_shape, weight, bias, eps), mean, ops.rsqrt(variance + eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """torch.nn.functional.rms_norm."""
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    axes = tuple(range(input.ndim - count, input.ndim))
    small = eps if eps is not None else (2.220446049250313e-16 if input.dtype == ms.float64 else 1.1920928955078125e-07)
    x = input * ops.rsqrt(mean_over(ops.square(input), axes, True) + small)
    return x if weight is None else x * weight


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """torch.nn.functional.group_norm."""
    rows = input.reshape(input.shape[0], num_groups, -1)
    return affine(standardized(rows, (2,), eps)[0].reshape(input.shape) if input.size else input, weight, bias)


def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """torch.native_group_norm: (result, mean, 1 / deviation)."""
    rows = input.reshape(N, group, -1)
    x, mean, variance = standardized(rows, (2,), eps)
    return affine(x.reshape(input.shape), weight, bias), mean.squeeze(2), ops.rsqrt(variance + eps).squeeze(2)


def affine(x, weight, bias):
    """A scale and a shift for each channel."""
    shape = (1, -1) + (1,) * (x.ndim - 2)
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05
):
    """torch.nn.functional.instance_norm. Running statistics are updated where they lie."""
    shape = (1, -1) + (1,) * (input.ndim - 2)
    if not use_input_stats:
        return affine((input - running_mean.reshape(shape)) * ops.rsqrt(running_var.reshape(shape) + eps), weight, bias)
    x, mean, variance = standardized(input, tuple(range(2, input.ndim)), eps)
    count = math.prod(input.shape[2:])
    update_running(
        running_mean, running_var, mean.mean(axis=0), variance.mean(axis=0) * count / max(count - 1, 1), momentum
    )
    return affine(x, weight, bias)


def update_running(running_mean, running_var, mean, variance, momentum):
    """Move running statistics towards the batch's."""
    for running_, new in ((running_mean, mean), (running_var, variance)):
        if running_ is None:
            continue
        moved = ops.stop_gradient(running_ + momentum * (new.reshape(running_.shape) - running_))
        if isinstance(running_, ms.Parameter):
            ops.assign(running_, moved)
        else:
            running_[...] = moved


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """torch.nn.functional.batch_norm. Running statistics are updated where they lie."""
    if not input.size:
        return input.copy()
    shape = (1, -1) + (1,) * (input.ndim - 2)
    if not training:
        return affine((input - running_mean.reshape(shape)) * ops.rsqrt(running_var.reshape(shape) + eps), weight, bias)
    axes = (0, *range(2, input.ndim))
    x, mean, variance = standardized(input, axes, eps)
    count = input.size // input.shape[1]
    update_running(running_mean, running_var, mean, variance * count / max(count - 1, 1), momentum)
    return affine(x, weight, bias)


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """torch.native_batch_norm: (result, saved mean, saved 1 / deviation)."""
    result = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return result, ops.zeros((0,), input.dtype), ops.zeros((0,), input.dtype)
    _, mean, variance = standardized(input, (0, *range(2, input.ndim)), eps)
    return result, mean.reshape(-1), ops.rsqrt(variance + eps).reshape(-1)


def batch_norm_legit(input, weight, bias, *rest):
    """torch._native_batch_norm_legit: with or without running statistics."""
    return native_batch_norm(input, weight, bias, *(rest if len(rest) == 5 else (None, None, *rest)))


def batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    """torch.ops.aten._batch_norm_with_update: also an empty reserve."""
    result = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return (*result, ms.Tensor([], ms.uint8))


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """torch.nn.functional.local_response_norm."""
    if not input.size:
        return input
    squares = pad(ops.square(input), (0, 0) * (input.ndim - 2) + (size // 2, (size - 1) // 2))
    total = ops.narrow(squares, 1, 0, input.shape[1])
    for start in range(1, size):
        total = total + ops.narrow(squares, 1, start, input.shape[1])
    return input / ops.pow(k + alpha * total / size, beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """torch.nn.functional.normalize."""
    size = norm_over(input, p, dim, True)
    return input / ops.clamp(size, min=eps)


def cosine_similarity(x1, x2, dim=1, eps=1e-08):
    """torch.nn.functional.cosine_similarity."""
    if x1.shape != x2.shape:
        x1, x2 = x1 + ops.zeros_like(x2), x2 + ops.zeros_like(x1)
    # each by its own norm: the product of both may be too large a number
    one_, other_ = (each / ops.clamp(norm_over(each, 2, dim, True), min=eps) for each in (x1, x2))
    return sum_over(one_ * other_, dim)


def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False):
    """torch.nn.functional.pairwise_distance."""
    return norm_over(x1 - x2 + eps, p, -1, keepdim)


def plain_softmax(input, axis):
    """torch.softmax, where no row is all minus infinity.

    After a gradient of MindSpore's own over an axis of length 1, its gradients over longer axes are wrong.
    """
    return ops.ones_like(input) + 0 * input if input.shape[axis] == 1 else ops.softmax(input, axis)


def softmax(input, dim=None, dtype=None, _stacklevel=3):
    """torch.nn.functional.softmax."""
    x = input if dtype is None else input.astype(dtype)
    if x.ndim == 0:
        return ops.ones_like(x) + 0 * x
    axis = dim if dim is not None else (0 if x.ndim in (0, 1, 3) else 1)
    if not x.size:
        return x
    if x.shape[axis] == 1:
        return plain_softmax(x, axis)
    # MindSpore's kernel stops at a row of nothing but -inf and leaves the rows after it unwritten.
    is_void = (x == float("-inf")).all(axis=axis, keep_dims=True)
    shares = ops.softmax(ops.masked_fill(x, is_void, 0.0), axis)
    return ops.masked_fill(shares, is_void, float("nan"))


def log_softmax(input, dim=None, dtype=None, _stacklevel=3):
    """torch.nn.functional.log_softmax."""
    x = input if dtype is None else input.astype(dtype)
    if x.ndim == 0:
        return 0 * x
    axis = dim if dim is not None else (0 if x.ndim in (0, 1, 3) else 1)
    return ops.log_softmax(x, axis) if x.size else x


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """torch.nn.functional.softmin."""
    return softmax(-input, dim, dtype=dtype)


def safe_softmax(input, dim, dtype=None):
    """torch.ops.aten._safe_softmax: zero where a whole row is minus infinity."""
    shares = softmax(input, dim, dtype=dtype)
    x = input if dtype is None else input.astype(dtype)
    is_void = (x == float("-inf")).all(axis=dim, keep_dims=True) if x.ndim else x == float("-inf")
    return ops.masked_fill(shares, is_void, 0.0)


def softmax_backward_data(grad_output, output, dim, input_dtype):
    """torch._softmax_backward_data."""
    part = grad_output * output
    return (part - output * sum_over(part, dim, True)).astype(input_dtype)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """torch.nn.functional.leaky_relu."""
    return ops.where(input > 0, input, input * negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """torch.nn.functional.elu, for any alpha, with its gradient at 0."""
    return ops.where(input > 0, input, alpha * ops.expm1(below_zero(input)))


def below_zero(input):
    """The input where it is not above 0, and 0 elsewhere; ops.minimum would halve the gradient at 0."""
    return ops.where(input > 0, ops.zeros_like(input), input)


def log1p(input):
    """torch.log1p. MindSpore's kernel for float32 adds 1 first and is off by 5 % at 1e-6: near zero a series takes its place."""
    if input.dtype != ms.float32:
        return ops.log1p(input)
    is_near = ops.abs(input) < 0.25
    near = ops.where(is_near, input, ops.zeros_like(input))
    part = near / (near + 2)
    square = part * part
    series = 2 * part * (1 + square * (1 / 3 + square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square / 11)))))
    return ops.where(is_near, series, ops.log1p(ops.where(is_near, ops.ones_like(input), input)))


def expm1(input):
    """torch.expm1. MindSpore's kernel for float32 subtracts 1 at last and is off by 5 % at 1e-6: near zero a series takes its place."""
    if input.dtype != ms.float32:
        return ops.expm1(input)
    is_near = ops.abs(input) < 0.5
    near = ops.where(is_near, input, ops.zeros_like(input))
    series = ops.ones_like(input)
    for order in (9, 8, 7, 6, 5, 4, 3, 2):
        series = 1 + series * near / order
    return ops.where(is_near, near * series, ops.expm1(ops.where(is_near, ops.ones_like(input), input)))


def log1p_exp(input):
    """log(1 + exp(x)) without overflow, with its gradient at 0."""
    is_positive = input > 0
    most = ops.where(is_positive, input, ops.zeros_like(input))
    return most + log1p(ops.exp(ops.where(is_positive, -input, input)))


def logsigmoid(input):
    """torch.nn.functional.logsigmoid; mindspore.ops.logsigmoid is infinite below -88."""
    return -log1p_exp(-input)


def selu(input, inplace=False):
    """torch.nn.functional.selu, with the right gradient."""
    return 1.0507009873554804934193349852946 * elu(input, 1.6732632423543772848170429916717)


def celu(input, alpha=1.0, inplace=False):
    """torch.nn.functional.celu."""
    return ops.where(input > 0, input, alpha * ops.expm1(below_zero(input) / alpha))


def relu(input, inplace=False):
    """torch.nn.functional.relu: never in place."""
    return ops.relu(input)


def relu6(input, inplace=False):
    """torch.nn.functional.relu6."""
    return hardtanh(input, 0, 6)


def silu(input, inplace=False):
    """torch.nn.functional.silu."""
    return input * ops.sigmoid(input)


def mish(input, inplace=False):
    """torch.nn.functional.mish; on CPU MindSpore's is NaN from 44 on, and the gradient of mindspore.nn.Mish is off by 1e-3."""
    power = ops.exp(ops.minimum(input, ops.full_like(input, 20)))
    ratio = power * (power + 2)  # tanh(log(1 + exp(x))), without MindSpore's tanh, which is flat beyond 5 on CPU
    return input * ratio / (ratio + 2)


def hardswish(input, inplace=False):
    """torch.nn.functional.hardswish; its gradient is 0 at -3 and 1 at 3."""
    bent = ops.where(input > -3, input * (input + 3) / 6, ops.zeros_like(input))
    return ops.where(input >= 3, input, bent)


def hardsigmoid(input, inplace=False):
    """torch.nn.functional.hardsigmoid."""
    return ops.hardsigmoid(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """torch.nn.functional.hardtanh; its gradient is 0 at the bounds, where that of ops.clamp is 1."""
    is_inside = ops.logical_and(input > min_val, input < max_val)
    return ops.where(is_inside, input, ops.stop_gradient(ops.clamp(input, min_val, max_val)))


def threshold(input, threshold, value, inplace=False):
    """torch.nn.functional.threshold."""
    return ops.where(input > threshold, input, ops.full_like(input, value))


def prelu(input, weight):
    """torch.nn.functional.prelu."""
    slope = weight if weight.size == 1 or input.ndim < 2 else weight.reshape((1, -1) + (1,) * (input.ndim - 2))
    return ops.where(input > 0, input, input * slope.reshape(()) if weight.size == 1 else input * slope)


def glu(input, dim=-1):
    """torch.nn.functional.glu."""
    first, second = ops.split(input, input.shape[dim] // 2, dim)
    return first * ops.sigmoid(second)


def tanh(input):
    """torch.tanh. MindSpore's kernel for float32 is 1 from 5 on, off by 1e-4 and without a gradient, so it takes the half."""
    if input.dtype != ms.float32:
        return ops.tanh(input)
    half = ops.tanh(input * 0.5)
    return 2 * half / (half * half + 1)


def tanhshrink(input):
    """torch.nn.functional.tanhshrink."""
    return input - tanh(input)


def softsign(input):
    """torch.nn.functional.softsign."""
    return input / (1 + ops.abs(input))
