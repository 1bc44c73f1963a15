"""Layers and functions for images, channels last."""

import numpy as np
from mindspore import Tensor, ops

from .images_types import in_shares
from .layers_base import Layer
from .layers_shaping import pad_axes, resize_smoothly
from .lookups import batches_in, plain_values
from .random_values import Chance
from .tensors import as_tensor, assign, is_float


class Rescaling(Layer):
    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale, self.offset, self.supports_masking = scale, offset, True

    def call(self, inputs, training=None):
        return ops.cast(inputs, as_tensor(0.0).dtype) * self.scale + self.offset


class Normalization(Layer):
    """With mean and variance that are given, or those of the data that it is adapted to."""

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        super().__init__(**kwargs)
        self.axis, self.invert, self.supports_masking = axis, invert, True
        self.is_given = mean is not None
        self.input_mean = None if mean is None else as_tensor(np.asarray(mean, np.float32))
        self.input_variance = None if variance is None else as_tensor(np.asarray(variance, np.float32))
        self.broadcast_shape = None

    def build(self, input_shape):
        kept = self._kept(len(input_shape))
        self.broadcast_shape = tuple(size if axis in kept else 1 for axis, size in enumerate(input_shape))
        if not self.is_given:
            sizes = [input_shape[axis] for axis in kept]
            self.adapt_mean = self.add_weight(sizes, "zeros", trainable=False, name="mean")
            self.adapt_variance = self.add_weight(sizes, "ones", trainable=False, name="variance")
            self.count = self.add_weight((), "zeros", dtype="int32", trainable=False, name="count")
        self.built = True

    def _kept(self, rank):
        return () if self.axis is None else tuple(np.atleast_1d(self.axis) % rank)

    def adapt(self, data, steps=None, **_):
        batches = batches_in(data, steps)
        array = np.concatenate([np.asarray(plain_values(each), np.float64) for each in batches])
        if not self.built:
            self.build(array.shape)
        axes = tuple(axis for axis in range(array.ndim) if axis not in self._kept(array.ndim))
        assign(self.adapt_mean, array.mean(axes).astype(np.float32))
        assign(self.adapt_variance, array.var(axes).astype(np.float32))

    @property
    def mean(self):
        return self._broadcast(self.input_mean if self.is_given else self.adapt_mean)

    @property
    def variance(self):
        return self._broadcast(self.input_variance if self.is_given else self.adapt_variance)

    def _broadcast(self, value):
        """In the shape that it meets the input with: one number for each place on the kept axes."""
        sizes = [
            size for axis, size in enumerate(self.broadcast_shape) if axis in self._kept(len(self.broadcast_shape))
        ]
        return ops.reshape(ops.broadcast_to(value, tuple(sizes)), self.broadcast_shape)

    def call(self, inputs, training=None):
        spread = ops.maximum(ops.sqrt(self.variance), as_tensor(1e-7))
        return inputs * spread + self.mean if self.invert else (inputs - self.mean) / spread


class Resizing(Layer):
    def __init__(
        self,
        height,
        width,
        interpolation="bilinear",
        crop_to_aspect_ratio=False,
        pad_to_aspect_ratio=False,
        fill_mode="constant",
        fill_value=0.0,
        antialias=False,
        data_format=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.height, self.width, self.interpolation, self.antialias = height, width, interpolation, antialias
        self.crop_to_aspect_ratio, self.pad_to_aspect_ratio = crop_to_aspect_ratio, pad_to_aspect_ratio
        self.fill_value, self.data_format = fill_value, data_format or "channels_last"

    def call(self, inputs, training=None):
        x = inputs if inputs.ndim == 4 else ops.expand_dims(inputs, 0)
        x = x if self.data_format == "channels_last" else ops.transpose(x, (0, 2, 3, 1))
        wanted = (self.height, self.width)
        if self.crop_to_aspect_ratio:
            x = cropped(x, *largest_crop(x.shape[1:3], wanted))
        elif self.pad_to_aspect_ratio:
            x = padded_to_shape(x, wanted, self.fill_value)
        x = image_resize(x, wanted, self.interpolation, antialias=self.antialias)
        x = x if self.data_format == "channels_last" else ops.transpose(x, (0, 3, 1, 2))
        return x if inputs.ndim == 4 else ops.squeeze(x, 0)


def cropped(images, top, left, height, width):
    images = ops.narrow(images, 1, top, min(height, images.shape[1] - top))
    return ops.narrow(images, 2, left, min(width, images.shape[2] - left))


def largest_crop(size, wanted):
    """(top, left, height, width) of the largest middle part with the wanted shape."""
    height = max(min(size[0], int(size[1] * wanted[0] / wanted[1])), 1)
    width = max(min(size[1], int(size[0] * wanted[1] / wanted[0])), 1)
    return int((size[0] - height) / 2), int((size[1] - width) / 2), height, width


def padded_to_shape(images, wanted, value):
    """In the middle of the smallest images with the wanted shape."""
    size = images.shape[1:3]
    whole = max(size[0], int(size[1] * wanted[0] / wanted[1])), max(size[1], int(size[0] * wanted[1] / wanted[0]))
    before = int((whole[0] - size[0]) / 2), int((whole[1] - size[1]) / 2)
    pairs = [(first, first) for first in before]
    return pad_axes(images, pairs, float(value))


def image_resize(images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None):
    """tf.image.resize."""
    images = as_tensor(images)
    height, width = (int(each) for each in size)
    x = images if images.ndim == 4 else ops.expand_dims(images, 0)
    if preserve_aspect_ratio:
        scale = min(height / x.shape[1], width / x.shape[2])
        height, width = (max(int(np.round(scale * each)), 1) for each in x.shape[1:3])
    if method == "nearest":
        rows = np.floor((np.arange(height) + 0.5) * x.shape[1] / height).astype(np.int32)
        columns = np.floor((np.arange(width) + 0.5) * x.shape[2] / width).astype(np.int32)
        x = ops.gather(ops.gather(x, Tensor(rows), 1), Tensor(columns), 2)
    else:
        x = x if is_float(x) else x.astype(as_tensor(0.0).dtype)
        x = resize_smoothly(x, height, width, method, antialias)
    return x if images.ndim == 4 else ops.squeeze(x, 0)


def flip_left_right(image):
    return ops.flip(as_tensor(image), (-2,))


def flip_up_down(image):
    return ops.flip(as_tensor(image), (-3,))


def random_flip_left_right(image, seed=None):
    return flip_left_right(image) if Chance.generator.random() < 0.5 else as_tensor(image)


def random_flip_up_down(image, seed=None):
    return flip_up_down(image) if Chance.generator.random() < 0.5 else as_tensor(image)


@in_shares
def random_brightness(image, max_delta, seed=None):
    return image + float(Chance.generator.uniform(-max_delta, max_delta))


def random_contrast(image, lower, upper, seed=None):
    return adjust_contrast(image, float(Chance.generator.uniform(lower, upper)))


@in_shares
def adjust_contrast(images, contrast_factor):
    mean = ops.mean(images, (-3, -2), True)
    return (images - mean) * contrast_factor + mean


def random_crop(value, size, seed=None, name=None):
    value = as_tensor(value)
    for axis, wanted in enumerate(size):
        start = int(Chance.generator.integers(0, value.shape[axis] - int(wanted) + 1))
        value = ops.narrow(value, axis, start, int(wanted))
    return value


@in_shares
def rgb_to_grayscale(images, name=None):
    return ops.sum(images * as_tensor([0.2989, 0.587, 0.114]), -1, True)


def per_image_standardization(image):
    image = as_tensor(image, as_tensor(0.0).dtype)
    mean = ops.mean(image, (-3, -2, -1), True)
    spread = ops.sqrt(ops.mean(ops.square(image - mean), (-3, -2, -1), True))
    least = 1.0 / float(np.sqrt(np.prod(image.shape[-3:])))
    return (image - mean) / ops.maximum(spread, as_tensor(least))
