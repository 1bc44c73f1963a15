"""Pooling over channels-last data."""

from mindspore import ops

from .layers_base import Layer
from .layers_conv import channels_first, channels_last, numbers, same_sides
from .layers_shaping import pad_axes


def by_planes(x, size, strides, pairs, pool, value):
    """Pooling over one, two or three axes by pooling over planes: x is (batch, channels, sizes), padded here."""
    x = pad_axes(x, ((0, 0), *pairs), value)
    if len(size) == 1:
        return ops.squeeze(pool(ops.expand_dims(x, 2), (1, *size), (1, *strides)), 2)
    if len(size) == 2:
        return pool(x, tuple(size), tuple(strides))
    batch, channels, depth, height, width = x.shape
    x = pool(ops.reshape(x, (batch, channels * depth, height, width)), tuple(size[1:]), tuple(strides[1:]))
    height, width = x.shape[2:]
    x = pool(ops.reshape(x, (batch, channels, depth, height * width)), (size[0], 1), (strides[0], 1))
    return ops.reshape(x, (batch, channels, x.shape[2], height, width))


def plane_maximum(x, size, strides):
    return ops.MaxPool(kernel_size=size, strides=strides, pad_mode="valid")(x)


def plane_average(x, size, strides):
    return ops.AvgPool(kernel_size=size, strides=strides, pad_mode="valid")(x)


def padding_of(x, size, strides, padding):
    rank = len(size)
    return same_sides(x.shape[2:], size, strides, (1,) * rank) if padding == "same" else ((0, 0),) * rank


def max_pool(x, size, strides, padding):
    pairs = padding_of(x, size, strides, padding)
    return by_planes(x, size, strides, pairs, plane_maximum, -3.4e38)


def average_pool(x, size, strides, padding):
    """What was padded doesn't count."""
    pairs = padding_of(x, size, strides, padding)
    out = by_planes(x, size, strides, pairs, plane_average, 0.0)
    if all(each == (0, 0) for each in pairs):
        return out
    inside = by_planes(ops.ones((1, 1, *x.shape[2:]), x.dtype), size, strides, pairs, plane_average, 0.0)
    return out / inside


class BasePooling(Layer):
    rank, function = 2, staticmethod(max_pool)

    def __init__(self, pool_size=2, strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.pool_size = numbers(pool_size, self.rank)
        self.strides = numbers(pool_size if strides is None else strides, self.rank)
        self.padding, self.data_format = padding.lower(), data_format

    def call(self, inputs, training=None):
        if self.data_format == "channels_first":
            return self.function(inputs, self.pool_size, self.strides, self.padding)
        return channels_last(self.function(channels_first(inputs), self.pool_size, self.strides, self.padding))


class MaxPooling1D(BasePooling):
    rank = 1


class MaxPooling2D(BasePooling):
    rank = 2


class MaxPooling3D(BasePooling):
    rank = 3


class AveragePooling1D(BasePooling):
    rank, function = 1, staticmethod(average_pool)


class AveragePooling2D(BasePooling):
    rank, function = 2, staticmethod(average_pool)


class AveragePooling3D(BasePooling):
    rank, function = 3, staticmethod(average_pool)


class GlobalPooling(Layer):
    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.data_format, self.keepdims = data_format, keepdims

    def axes(self, inputs):
        first = 2 if self.data_format == "channels_first" else 1
        return tuple(range(first, first + inputs.ndim - 2))


class GlobalAveragePooling2D(GlobalPooling):
    def call(self, inputs, training=None):
        return ops.mean(inputs, self.axes(inputs), self.keepdims)


class GlobalAveragePooling3D(GlobalAveragePooling2D):
    pass


class GlobalAveragePooling1D(GlobalPooling):
    def call(self, inputs, mask=None, training=None):
        if mask is None:
            return ops.mean(inputs, self.axes(inputs), self.keepdims)
        weight = ops.expand_dims(mask.astype(inputs.dtype), 2)
        return ops.sum(inputs * weight, 1, self.keepdims) / ops.sum(weight, 1, self.keepdims)


class GlobalMaxPooling2D(GlobalPooling):
    def call(self, inputs, training=None):
        return ops.amax(inputs, self.axes(inputs), self.keepdims)


class GlobalMaxPooling1D(GlobalMaxPooling2D):
    pass


class GlobalMaxPooling3D(GlobalMaxPooling2D):
    pass
