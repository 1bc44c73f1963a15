"""Pooling into a given number of places, whatever the input's size."""

from mindspore import ops

from .layers_base import Layer
from .layers_conv import numbers


def pool_into(x, wanted, axis, function):
    """Windows that cover an axis evenly; neighbours may share a place."""
    size, parts = x.shape[axis], []
    for place in range(wanted):
        first, last = place * size // wanted, -(-(place + 1) * size // wanted)
        parts.append(function(ops.narrow(x, axis, first, last - first), axis, True))
    return ops.cat(parts, axis)


class AdaptivePooling(Layer):
    rank, function = 2, staticmethod(ops.mean)

    def __init__(self, output_size, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.output_size, self.data_format = numbers(output_size, self.rank), data_format or "channels_last"

    def call(self, inputs, training=None):
        first = 2 if self.data_format == "channels_first" else 1
        for place in range(self.rank):
            inputs = pool_into(inputs, self.output_size[place], first + place, self.function)
        return inputs


class AdaptiveAveragePooling1D(AdaptivePooling):
    rank = 1


class AdaptiveAveragePooling2D(AdaptivePooling):
    rank = 2


class AdaptiveAveragePooling3D(AdaptivePooling):
    rank = 3


class AdaptiveMaxPooling1D(AdaptivePooling):
    rank, function = 1, staticmethod(ops.amax)


class AdaptiveMaxPooling2D(AdaptivePooling):
    rank, function = 2, staticmethod(ops.amax)


class AdaptiveMaxPooling3D(AdaptivePooling):
    rank, function = 3, staticmethod(ops.amax)
