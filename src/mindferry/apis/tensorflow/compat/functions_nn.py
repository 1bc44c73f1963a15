"""tf.nn: convolution, pooling and normalization as functions of tensors, channels last unless they are told otherwise."""

import numpy as np
from mindspore import ops

from .functions_shape import sizes_of, tf_reshape, tf_transpose
from .graph import symbolic
from .layers_conv import channels_first, channels_last, convolve, depthwise, transposed
from .layers_pool import average_pool, max_pool
from .layers_shaping import pad_axes
from .tensors import as_tensor, is_number


def inner_numbers(given, rank, is_first=False):
    """Strides and sizes are one number, one an axis of the image, or one an axis of the batch."""
    if given is None:
        return (1,) * rank
    values = (given,) if is_number(given) else tuple(given)
    values = tuple(int(each) for each in values)
    if len(values) == rank + 2:
        return values[2:] if is_first else values[1:-1]
    return values * rank if len(values) == 1 else values


def is_channels_first(data_format):
    return data_format is not None and str(data_format).startswith("NC")


def padded_input(x, padding, rank):
    """x with channels first, and the word for what is still to be padded."""
    if isinstance(padding, str):
        return x, padding.lower()
    pairs = [sizes_of(each) for each in padding]
    spatial = pairs[1:-1] if len(pairs) == rank + 2 else pairs
    return pad_axes(x, ((0, 0), *spatial)), "valid"


@symbolic
def tf_convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    x, kernel = as_tensor(input), as_tensor(filters)
    rank, is_first = kernel.ndim - 2, is_channels_first(data_format)
    x = x if is_first else channels_first(x)
    x, padding = padded_input(x, padding, rank)
    weight = ops.transpose(kernel, (rank + 1, rank, *range(rank)))
    steps, gaps = inner_numbers(strides, rank, is_first), inner_numbers(dilations, rank, is_first)
    out = convolve(x, weight, steps, padding, gaps, x.shape[1] // kernel.shape[-2])
    return out if is_first else channels_last(out)


def tf_conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    return tf_convolution(input, filters, stride, padding, data_format, dilations)


def tf_conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    return tf_convolution(input, filters, strides, padding, data_format, dilations)


def tf_conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    return tf_convolution(input, filters, strides, padding, data_format, dilations)


@symbolic
def tf_depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    is_first = is_channels_first(data_format)
    x, kernel = as_tensor(input), as_tensor(filter)
    x, padding = padded_input(x if is_first else channels_first(x), padding, 2)
    out = depthwise(x, kernel, inner_numbers(strides, 2, is_first), padding, inner_numbers(dilations, 2))
    return out if is_first else channels_last(out)


def tf_separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None
):
    made = tf_depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return tf_convolution(made, pointwise_filter, 1, "VALID", data_format)


@symbolic
def tf_conv2d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None, name=None
):
    is_first = is_channels_first(data_format)
    x = as_tensor(input)
    sizes = sizes_of(output_shape)
    wanted = sizes[2:] if is_first else sizes[1:3]
    x = x if is_first else channels_first(x)
    steps, gaps = inner_numbers(strides, 2, is_first), inner_numbers(dilations, 2, is_first)
    out = transposed(x, as_tensor(filters), steps, padding.lower(), gaps, wanted=wanted)
    return out if is_first else channels_last(out)


@symbolic
def pooled(function, x, ksize, strides, padding, data_format):
    x = as_tensor(x)
    rank, is_first = x.ndim - 2, is_channels_first(data_format)
    size, steps = inner_numbers(ksize, rank, is_first), inner_numbers(strides, rank, is_first)
    x, padding = x if is_first else channels_first(x), padding.lower()
    out = function(x, size, steps, padding)
    return out if is_first else channels_last(out)


def tf_max_pool(input, ksize, strides, padding, data_format=None, name=None):
    return pooled(max_pool, input, ksize, strides, padding, data_format)


def tf_avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    return pooled(average_pool, input, ksize, strides, padding, data_format)


@symbolic
def tf_bias_add(value, bias, data_format=None, name=None):
    value, bias = as_tensor(value), as_tensor(bias)
    return value + (ops.reshape(bias, (-1, *(1,) * (value.ndim - 2))) if is_channels_first(data_format) else bias)


@symbolic
def tf_batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    factor = ops.rsqrt(as_tensor(variance) + variance_epsilon)
    factor = factor if scale is None else factor * scale
    made = as_tensor(x) * factor - mean * factor
    return made if offset is None else made + offset


@symbolic
def tf_local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    x = as_tensor(input)
    squares = pad_axes(ops.square(x), (*((0, 0),) * (x.ndim - 2), (depth_radius, depth_radius)))
    total = sum(ops.narrow(squares, x.ndim - 1, place, x.shape[-1]) for place in range(2 * depth_radius + 1))
    return x / ops.pow(bias + alpha * total, beta)


@symbolic
def tf_crelu(features, axis=-1, name=None):
    x = as_tensor(features)
    return ops.relu(ops.cat([x, -x], axis))


@symbolic
def tf_softsign(features, name=None):
    x = as_tensor(features)
    return x / (1 + ops.abs(x))


@symbolic
def tf_log_sigmoid(x, name=None):
    x = as_tensor(x)
    return -(ops.relu(-x) + ops.log1p(ops.exp(-ops.abs(x))))


def tf_space_to_depth(input, block_size, data_format="NHWC", name=None):
    batch, height, width, channels = input.shape
    size = int(block_size)
    made = tf_reshape(input, (batch or -1, height // size, size, width // size, size, channels))
    made = tf_transpose(made, (0, 1, 3, 2, 4, 5))
    return tf_reshape(made, (batch or -1, height // size, width // size, size * size * channels))


def tf_depth_to_space(input, block_size, data_format="NHWC", name=None):
    batch, height, width, channels = input.shape
    size = int(block_size)
    made = tf_reshape(input, (batch or -1, height, width, size, size, channels // size**2))
    made = tf_transpose(made, (0, 1, 3, 2, 4, 5))
    return tf_reshape(made, (batch or -1, height * size, width * size, channels // size**2))


@symbolic
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    logits = as_tensor(logits)
    labels = as_tensor(labels, logits.dtype)
    factor = 1 + (pos_weight - 1) * labels
    return (1 - labels) * logits + factor * (ops.log1p(ops.exp(-ops.abs(logits))) + ops.relu(-logits))


def tf_in_top_k(targets, predictions, k, name=None):
    scores = as_tensor(predictions).asnumpy()
    chosen = np.take_along_axis(scores, as_tensor(targets).asnumpy().reshape(-1, 1), 1)
    return as_tensor((scores > chosen).sum(1) < k)


def tf_zero_fraction(value, dtype="float32", name=None):
    return as_tensor(float((as_tensor(value).asnumpy() == 0).mean()), dtype)


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """tf.nn.compute_average_loss: the sum, by the number of examples of all devices."""
    losses = as_tensor(per_example_loss)
    losses = losses if sample_weight is None else losses * as_tensor(sample_weight, losses.dtype)
    return ops.sum(losses) / float(losses.shape[0] if global_batch_size is None else global_batch_size)


def scale_regularization_loss(regularization_loss):
    return ops.sum(as_tensor(regularization_loss))
