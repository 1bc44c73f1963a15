"""Convolution and pooling over channels-last data, with TensorFlow's padding; MindSpore computes channels-first inside."""

import math

from mindspore import ops

from .activations import get_activation, get_constraint
from .layers_base import Layer
from .layers_shaping import pad_axes


def numbers(given, rank):
    """One number an axis."""
    return (int(given),) * rank if isinstance(given, int) else tuple(int(each) for each in given)


def same_sides(sizes, kernel, strides, dilation):
    """What TensorFlow's "same" pads: as little as possible, the odd one behind."""
    found = []
    for size, k, s, d in zip(sizes, kernel, strides, dilation, strict=True):
        total = max((math.ceil(size / s) - 1) * s + (k - 1) * d + 1 - size, 0)
        found.append((total // 2, total - total // 2))
    return tuple(found)


def channels_first(x):
    return ops.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))


def channels_last(x):
    return ops.transpose(x, (0, *range(2, x.ndim), 1))


def convolve(x, weight, strides, padding, dilation, groups):
    """x and weight with channels first (weight: out, in, sizes), any number of axes from one to three."""
    rank, kernel = x.ndim - 2, weight.shape[2:]
    pairs = same_sides(x.shape[2:], kernel, strides, dilation) if padding == "same" else ((0, 0),) * rank
    if padding == "causal":
        pairs = (((kernel[0] - 1) * dilation[0], 0),)
    if rank == 3:
        x = pad_axes(x, ((0, 0), *pairs))
        return ops.conv3d(x, weight, stride=strides, pad_mode="valid", dilation=dilation, groups=groups)
    if rank == 1:
        x, weight = ops.expand_dims(x, 2), ops.expand_dims(weight, 2)
        strides, dilation, pairs, kernel = (1, *strides), (1, *dilation), ((0, 0), *pairs), (1, *kernel)
    function = ops.Conv2D(
        weight.shape[0],
        tuple(kernel),
        pad_mode="pad",
        pad=(*pairs[0], *pairs[1]),
        stride=tuple(strides),
        dilation=tuple(dilation),
        group=groups,
    )
    out = function(x, weight)
    return ops.squeeze(out, 2) if rank == 1 else out


class BaseConv(Layer):
    rank = 2

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        groups=1,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters, self.groups, self.padding = filters, groups, padding.lower()
        self.kernel_size, self.strides = numbers(kernel_size, self.rank), numbers(strides, self.rank)
        self.dilation_rate = numbers(dilation_rate, self.rank)
        self.data_format = data_format or "channels_last"
        self.activation, self.use_bias = get_activation(activation), use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = (
            get_constraint(kernel_constraint),
            get_constraint(bias_constraint),
        )
        self.bias = None

    def channels(self, input_shape):
        return input_shape[1 if self.data_format == "channels_first" else -1]

    def build(self, input_shape):
        channels = self.channels(input_shape)
        self.kernel = self.add_weight(
            (*self.kernel_size, channels // self.groups, self.filters),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        self.add_bias(self.filters)
        self.built = True

    def add_bias(self, count):
        if self.use_bias:
            self.bias = self.add_weight(
                (count,),
                self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                name="bias",
            )

    def call(self, inputs, training=None):
        x = inputs if self.data_format == "channels_first" else channels_first(inputs)
        return self.finish(self.convolution(x))

    def convolution(self, x):
        weight = ops.transpose(self.kernel, (self.rank + 1, self.rank, *range(self.rank)))
        return convolve(x, weight, self.strides, self.padding, self.dilation_rate, self.groups)

    def finish(self, x):
        if self.use_bias:
            x = x + ops.reshape(self.bias, (-1, *(1,) * self.rank))
        return self.activation(x if self.data_format == "channels_first" else channels_last(x))


class Conv1D(BaseConv):
    rank = 1


class Conv2D(BaseConv):
    rank = 2


class Conv3D(BaseConv):
    rank = 3


class DepthwiseConv2D(BaseConv):
    def __init__(
        self,
        kernel_size,
        strides=1,
        padding="valid",
        depth_multiplier=1,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            0,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            1,
            activation,
            use_bias,
            depthwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape):
        channels = self.channels(input_shape)
        self.kernel = self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        self.add_bias(channels * self.depth_multiplier)
        self.built = True

    def convolution(self, x):
        return depthwise(x, self.kernel, self.strides, self.padding, self.dilation_rate)


def depthwise(x, kernel, strides, padding, dilation):
    rank = x.ndim - 2
    weight = ops.transpose(kernel, (rank, rank + 1, *range(rank)))
    weight = ops.reshape(weight, (-1, 1, *kernel.shape[:rank]))
    return convolve(x, weight, strides, padding, dilation, x.shape[1])


class DepthwiseConv1D(DepthwiseConv2D):
    rank = 1


class SeparableConv2D(BaseConv):
    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        depth_multiplier=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        pointwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        pointwise_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            1,
            activation,
            use_bias,
            depthwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            bias_constraint,
            **kwargs,
        )
        self.depth_multiplier, self.pointwise_initializer = depth_multiplier, pointwise_initializer
        self.pointwise_regularizer, self.pointwise_constraint = (
            pointwise_regularizer,
            get_constraint(pointwise_constraint),
        )

    def build(self, input_shape):
        channels = self.channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            (*self.kernel_size, channels, self.depth_multiplier),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="depthwise_kernel",
        )
        self.pointwise_kernel = self.add_weight(
            (*(1,) * self.rank, channels * self.depth_multiplier, self.filters),
            self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
            name="pointwise_kernel",
        )
        self.add_bias(self.filters)
        self.built = True

    def convolution(self, x):
        ones = (1,) * self.rank
        x = depthwise(x, self.depthwise_kernel, self.strides, self.padding, self.dilation_rate)
        weight = ops.transpose(self.pointwise_kernel, (self.rank + 1, self.rank, *range(self.rank)))
        return convolve(x, weight, ones, "valid", ones, 1)


class SeparableConv1D(SeparableConv2D):
    rank = 1


class ConvTranspose(BaseConv):
    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        output_padding=None,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        **kwargs,
    ):
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, 1, activation, use_bias, **kwargs
        )
        self.output_padding = None if output_padding is None else numbers(output_padding, self.rank)

    def build(self, input_shape):
        self.kernel = self.add_weight(
            (*self.kernel_size, self.filters, self.channels(input_shape)),
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            name="kernel",
        )
        self.add_bias(self.filters)
        self.built = True

    def convolution(self, x):
        return transposed(x, self.kernel, self.strides, self.padding, self.dilation_rate, self.output_padding)


def transposed_size(size, k, s, d, padding, extra):
    span = (k - 1) * d + 1
    if extra is None:
        return size * s + (max(span - s, 0) if padding == "valid" else 0)
    return (size - 1) * s + span + extra - (2 * (span // 2) if padding == "same" else 0)


def transposed(x, kernel, strides, padding, dilation, output_padding=None, wanted=None):
    """The gradient of a convolution: zeros between the inputs, then the flipped kernel. kernel: sizes, out, in."""
    rank = x.ndim - 2
    for axis in range(rank):
        size, k, s, d = x.shape[2 + axis], kernel.shape[axis], strides[axis], dilation[axis]
        extra = None if output_padding is None else output_padding[axis]
        out = transposed_size(size, k, s, d, padding, extra) if wanted is None else wanted[axis]
        span = (k - 1) * d + 1
        before = max((size - 1) * s + span - out, 0) // 2 if padding == "same" else 0
        if padding == "same" and extra is not None:
            before = span // 2
        x = spread(x, s, 2 + axis)
        first, last = span - 1 - before, out - ((size - 1) * s + 1) + before
        x = pad_one(x, 2 + axis, first, last)
    weight = ops.transpose(ops.flip(kernel, tuple(range(rank))), (rank, rank + 1, *range(rank)))
    return convolve(x, weight, (1,) * rank, "valid", dilation, 1)


def spread(x, step, axis):
    """Zeros between what stands on an axis."""
    if step == 1:
        return x
    wide = ops.expand_dims(x, axis + 1)
    zeros = ops.zeros((*wide.shape[: axis + 1], step - 1, *wide.shape[axis + 2 :]), x.dtype)
    whole = ops.cat([wide, zeros], axis + 1)
    whole = ops.reshape(whole, (*x.shape[:axis], x.shape[axis] * step, *x.shape[axis + 1 :]))
    return ops.narrow(whole, axis, 0, (x.shape[axis] - 1) * step + 1)


def pad_one(x, axis, before, after):
    if before < 0:
        x, before = ops.narrow(x, axis, -before, x.shape[axis] + before), 0
    if after < 0:
        x, after = ops.narrow(x, axis, 0, x.shape[axis] + after), 0
    return pad_axes(x, ((0, 0),) * (axis - 1) + ((before, after),))


class Conv1DTranspose(ConvTranspose):
    rank = 1


class Conv2DTranspose(ConvTranspose):
    rank = 2


class Conv3DTranspose(ConvTranspose):
    rank = 3
