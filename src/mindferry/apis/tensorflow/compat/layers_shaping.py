"""Layers that change shapes, pad, crop, repeat, or merge several tensors."""

import numpy as np
from mindspore import Tensor, ops

from .layers_base import Layer
from .products import einsum
from .tensors import as_tensor, is_float


class InputLayer(Layer):
    def __init__(
        self, shape=None, batch_size=None, dtype=None, batch_shape=None, name=None, input_shape=None, **kwargs
    ):
        shape = shape if shape is not None else input_shape
        super().__init__(name=name, dtype=dtype, batch_shape=batch_shape or (batch_size, *shape))

    def call(self, inputs):
        return inputs


class Flatten(Layer):
    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format

    def call(self, inputs, training=None):
        if self.data_format == "channels_first" and inputs.ndim > 2:
            inputs = ops.transpose(inputs, (0, *range(2, inputs.ndim), 1))
        return ops.reshape(inputs, (inputs.shape[0], -1))


class Reshape(Layer):
    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs, training=None):
        return ops.reshape(inputs, (inputs.shape[0], *self.target_shape))


class Permute(Layer):
    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)

    def call(self, inputs, training=None):
        return ops.transpose(inputs, (0, *self.dims))


class RepeatVector(Layer):
    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        self.n = n

    def call(self, inputs, training=None):
        return ops.tile(ops.expand_dims(inputs, 1), (1, self.n, 1))


def sides(given, rank):
    """((before, after), ...) from a number, a number an axis, or pairs."""
    if isinstance(given, int):
        return ((given, given),) * rank
    if rank == 1 and isinstance(given[0], int):
        return (tuple(given) if len(given) == 2 else (given[0], given[0]),)
    return tuple((each, each) if isinstance(each, int) else tuple(each) for each in given)


def pad_axes(x, pairs, value=0.0):
    """Pads the axes after the first one, whatever their number."""
    for axis, (before, after) in enumerate(pairs, 1):
        parts = [x]
        if before:
            parts.insert(0, ops.full((*x.shape[:axis], before, *x.shape[axis + 1 :]), value, dtype=x.dtype))
        if after:
            parts.append(ops.full((*x.shape[:axis], after, *x.shape[axis + 1 :]), value, dtype=x.dtype))
        x = ops.cat(parts, axis) if len(parts) > 1 else x
    return x


class ZeroPadding(Layer):
    """`rank` axes after the first, or after the channels."""

    rank = 2

    def __init__(self, padding=1, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.padding, self.data_format = sides(padding, self.rank), data_format

    def call(self, inputs, training=None):
        pairs = self.padding if self.data_format != "channels_first" else ((0, 0), *self.padding)
        return pad_axes(inputs, pairs)


class ZeroPadding1D(ZeroPadding):
    rank = 1


class ZeroPadding2D(ZeroPadding):
    rank = 2


class ZeroPadding3D(ZeroPadding):
    rank = 3


class Cropping(Layer):
    rank = 2

    def __init__(self, cropping=((0, 0), (0, 0)), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.cropping, self.data_format = sides(cropping, self.rank), data_format

    def call(self, inputs, training=None):
        first = 2 if self.data_format == "channels_first" else 1
        for axis, (before, after) in enumerate(self.cropping, first):
            inputs = ops.narrow(inputs, axis, before, inputs.shape[axis] - before - after)
        return inputs


class Cropping1D(Cropping):
    rank = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(cropping, **kwargs)


class Cropping2D(Cropping):
    pass


class Cropping3D(Cropping):
    rank = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format=None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)


def repeat_axis(x, count, axis):
    """Each element `count` times, one after the other."""
    if count == 1:
        return x
    wide = ops.expand_dims(x, axis + 1)
    copies = [1] * wide.ndim
    copies[axis + 1] = count
    return ops.reshape(ops.tile(wide, tuple(copies)), (*x.shape[:axis], x.shape[axis] * count, *x.shape[axis + 1 :]))


class UpSampling1D(Layer):
    def __init__(self, size=2, **kwargs):
        super().__init__(**kwargs)
        self.size = size

    def call(self, inputs, training=None):
        return repeat_axis(inputs, self.size, 1)


def resize_kernel(method, x):
    """How much a pixel counts that is `x` pixels away; and how far away pixels count at all."""
    if method == "bilinear":
        return np.maximum(1 - x, 0)
    if method == "bicubic":
        near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
        return np.where(x < 1, near, np.where(x < 2, far, 0))
    if method == "mitchellcubic":
        near, far = (7 * x - 12) * x * x / 6 + 16 / 18, ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
        return np.where(x < 1, near, np.where(x < 2, far, 0))
    if method == "gaussian":
        return np.where(x < 1.5, np.exp(-(x**2) / (2 * 0.5**2)), 0)
    if method in ("lanczos3", "lanczos5"):
        radius = int(method[-1])
        return np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0)
    raise NotImplementedError(f"images are not resized by {method} here: resize them with Pillow")


def resize_matrix(size, wanted, method="bilinear", antialias=False):
    """Weights (wanted, size) of an axis, with half-pixel centres."""
    at = (np.arange(wanted) + 0.5) * size / wanted - 0.5
    if method == "bilinear" and not antialias:
        at = np.clip(at, 0.0, size - 1.0)
    if method == "bicubic" and not antialias:
        at = np.floor(at) + np.rint((at - np.floor(at)) * 1024) / 1024  # TensorFlow looks its weights up in a table
    scale = max(size / wanted, 1.0) if antialias else 1.0
    weights = resize_kernel(method, np.abs(at[:, None] - np.arange(size)) / scale)
    return Tensor((weights / weights.sum(1, keepdims=True)).astype(np.float32))


def resize_smoothly(x, height, width, method="bilinear", antialias=False):
    """NHWC."""
    x = einsum("bhwc,yh->bywc", x, resize_matrix(x.shape[1], height, method, antialias))
    return einsum("bhwc,xw->bhxc", x, resize_matrix(x.shape[2], width, method, antialias))


class UpSampling2D(Layer):
    def __init__(self, size=(2, 2), data_format=None, interpolation="nearest", **kwargs):
        super().__init__(**kwargs)
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.data_format, self.interpolation = data_format, interpolation

    def call(self, inputs, training=None):
        is_first = self.data_format == "channels_first"
        if self.interpolation == "nearest":
            axis = 2 if is_first else 1
            return repeat_axis(repeat_axis(inputs, self.size[0], axis), self.size[1], axis + 1)
        x = ops.transpose(inputs, (0, 2, 3, 1)) if is_first else inputs
        x = resize_smoothly(x, x.shape[1] * self.size[0], x.shape[2] * self.size[1], self.interpolation)
        return ops.transpose(x, (0, 3, 1, 2)) if is_first else x


class UpSampling3D(Layer):
    def __init__(self, size=(2, 2, 2), data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.size = (size,) * 3 if isinstance(size, int) else tuple(size)
        self.data_format = data_format

    def call(self, inputs, training=None):
        for axis, count in enumerate(self.size, 2 if self.data_format == "channels_first" else 1):
            inputs = repeat_axis(inputs, count, axis)
        return inputs


class Merge(Layer):
    """Several tensors into one, by twos; ranks are made equal behind the batch."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_mask(self, inputs, previous_mask=None):
        """What is masked in all of them; nothing, where one has no mask."""
        masks = previous_mask if isinstance(previous_mask, (list, tuple)) else [previous_mask]
        if any(each is None for each in masks):
            return None
        made = masks[0]
        for each in masks[1:]:
            made = ops.logical_or(made, each)
        return made

    def call(self, inputs, training=None):
        rank = max(each.ndim for each in inputs)
        inputs = [ops.reshape(each, (each.shape[0], *(1,) * (rank - each.ndim), *each.shape[1:])) for each in inputs]
        out = inputs[0]
        for each in inputs[1:]:
            out = self.merge(out, each)
        return self.finish(out, len(inputs))

    def finish(self, out, count):
        return out


class Add(Merge):
    def merge(self, x, y):
        return x + y


class Subtract(Merge):
    def merge(self, x, y):
        return x - y


class Multiply(Merge):
    def merge(self, x, y):
        return x * y


class Average(Merge):
    def merge(self, x, y):
        return x + y

    def finish(self, out, count):
        return out / count


class Maximum(Merge):
    def merge(self, x, y):
        return ops.maximum(x, y)


class Minimum(Merge):
    def merge(self, x, y):
        return ops.minimum(x, y)


class Concatenate(Layer):
    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def compute_mask(self, inputs, previous_mask=None):
        if not isinstance(previous_mask, (list, tuple)) or all(each is None for each in previous_mask):
            return None
        wide = []
        for value, mask in zip(inputs, previous_mask, strict=True):
            ones = ops.ones_like(value)
            if mask is None:
                wide.append(ones)
            else:
                wide.append(ones * ops.cast(mask if mask.ndim == value.ndim else ops.expand_dims(mask, -1), ones.dtype))
        return ops.amax(ops.cat(wide, self.axis), -1) > 0

    def call(self, inputs, training=None):
        floats = [each.dtype for each in inputs if is_float(each)]
        kind = floats[0] if floats else inputs[0].dtype
        return ops.cat([each if each.dtype == kind else ops.cast(each, kind) for each in inputs], self.axis)


class Dot(Layer):
    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        self.axes, self.normalize = axes, normalize

    def call(self, inputs, training=None):
        x, y = inputs
        first, second = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        first, second = first % x.ndim, second % y.ndim
        if self.normalize:
            x, y = unit_vectors(x, first), unit_vectors(y, second)
        left = "abcdef"[: x.ndim]
        right = "a" + "uvwxyz"[: y.ndim - 1]
        right = right[:second] + left[first] + right[second + 1 :]
        rest = "".join(each for each in left[1:] + right[1:] if each != left[first])
        out = einsum(f"{left},{right}->a{rest}", x, y)
        return out if rest else ops.expand_dims(out, -1)


def unit_vectors(x, axis):
    return x * ops.rsqrt(ops.maximum(ops.sum(x * x, axis, True), as_tensor(1e-12, x.dtype)))


def add(inputs, **kwargs):
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    return Minimum(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    return Concatenate(axis, **kwargs)(inputs)


def dot(inputs, axes=-1, **kwargs):
    return Dot(axes, **kwargs)(inputs)
