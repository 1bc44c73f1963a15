"""Layers that change brightness and colours."""

import numpy as np
from mindspore import Tensor, ops

from .images import rgb_to_grayscale
from .images_base import ImageLayer, chosen, drawn, rescaled
from .images_shape import hsv_to_rgb, rgb_to_hsv
from .layers_conv import channels_first, channels_last, depthwise
from .random_values import Chance


def kept_within(images, value_range):
    return ops.clamp(images, float(value_range[0]), float(value_range[1]))


def blurred(images, size, spread):
    """By a Gaussian of (height, width) pixels; `spread` is across, then down."""
    rows, columns = (np.arange(each, dtype=np.float32) - (each - 1) / 2 for each in size)
    across, down = np.exp(-0.5 * (rows / spread[0]) ** 2), np.exp(-0.5 * (columns / spread[1]) ** 2)
    kernel = np.outer(down / down.sum(), across / across.sum()).reshape(size)
    return by_channels(images, kernel)


def by_channels(images, kernel):
    """A convolution of each channel with one kernel."""
    weight = np.repeat(kernel.astype(np.float32)[..., None, None], images.shape[-1], 2)
    return channels_last(depthwise(channels_first(images), Tensor(weight), (1, 1), "same", (1, 1)))


class ColourLayer(ImageLayer):
    """With a factor and a range of brightness."""

    def __init__(self, factor=0.0, value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(data_format, seed, **kwargs)
        self.factor, self.value_range = self.limits(factor), tuple(sorted(value_range))

    def draw(self, shape):
        return Tensor(drawn((shape[0], 1, 1, 1), *self.factor))


class RandomBrightness(ColourLayer):
    def change(self, images, made):
        return kept_within(images + made * (self.value_range[1] - self.value_range[0]), self.value_range)


class RandomContrast(ColourLayer):
    bounds = (0.0, 1.0)

    def draw(self, shape):
        return Tensor(drawn((shape[0], 1, 1, 1), 1 - self.factor[0], 1 + self.factor[1]))

    def change(self, images, made):
        mean = ops.mean(images, (1, 2), True)
        return kept_within((images - mean) * made + mean, self.value_range)


class RandomColorDegeneration(ColourLayer):
    def change(self, images, made):
        return kept_within(images + made * (rgb_to_grayscale(images) - images), self.value_range)


class RandomGrayscale(ImageLayer):
    def __init__(self, factor=0.5, data_format=None, seed=None, **kwargs):
        super().__init__(data_format, seed, **kwargs)
        self.factor = factor

    def draw(self, shape):
        return drawn((shape[0],)) < self.factor

    def change(self, images, made):
        return chosen(made, ops.broadcast_to(rgb_to_grayscale(images), images.shape), images)


class RandomHue(ColourLayer):
    bounds = (0.0, 1.0)

    def draw(self, shape):
        sign = np.where(drawn((shape[0], 1, 1)) > 0.5, np.float32(-1), np.float32(1))
        return Tensor(sign * drawn((shape[0], 1, 1), *self.factor) * np.float32(0.5))

    def change(self, images, made):
        hsv = rgb_to_hsv(rescaled(images, self.value_range, (0, 1)))
        hue = hsv[..., 0] + made
        hue = ops.where(hue > 1, hue - 1, hue)
        hue = ops.where(hue < 0, hue + 1, hue)
        turned = hsv_to_rgb(ops.stack([hue, hsv[..., 1], hsv[..., 2]], -1))
        return rescaled(kept_within(turned, (0, 1)), (0, 1), self.value_range)


class RandomSaturation(ColourLayer):
    def draw(self, shape):
        factor = drawn((shape[0], 1, 1), *self.factor)
        return Tensor(factor / (1 - factor + np.float32(1e-7)))

    def change(self, images, made):
        hsv = rgb_to_hsv(images)
        saturation = kept_within(hsv[..., 1] * made, self.value_range)
        return hsv_to_rgb(ops.stack([hsv[..., 0], saturation, hsv[..., 2]], -1))


class RandomInvert(ColourLayer):
    bounds = (0.0, 1.0)

    def __init__(self, factor=1.0, value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(factor, value_range, seed, data_format, **kwargs)

    def draw(self, shape):
        chance = drawn((shape[0],), *self.factor)
        return drawn((shape[0],)) < chance

    def change(self, images, made):
        return chosen(made, self.value_range[1] - images, images)


class RandomPosterization(ColourLayer):
    """Leaves the highest bits of eight."""

    bounds = (1, 8)

    def draw(self, shape):
        low, high = self.factor
        if low == high:
            return np.full(shape[0], 8 - low)
        return 8 - Chance.generator.integers(low, high, (shape[0],))

    def change(self, images, made):
        step = Tensor((2.0**made).astype(np.float32).reshape(-1, 1, 1, 1))
        whole = ops.floor(rescaled(images, self.value_range, (0, 255)))
        return rescaled(ops.stop_gradient(ops.floor(whole / step) * step), (0, 255), self.value_range)


class RandomSharpness(ColourLayer):
    bounds = (0.0, 1.0)

    def change(self, images, made):
        smooth = by_channels(images, np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]]) / 13)
        return kept_within(images + (1 - made * 2) * (smooth - images), self.value_range)


class RandomGaussianBlur(ColourLayer):
    bounds = (0.0, 1.0)

    def __init__(
        self,
        factor=1.0,
        kernel_size=3,
        sigma=1.0,
        value_range=(0, 255),
        data_format=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(factor, value_range, seed, data_format, **kwargs)
        self.kernel_size = tuple(kernel_size) if isinstance(kernel_size, (list, tuple)) else (kernel_size,) * 2
        self.sigma = self.limits(sigma)

    def draw(self, shape):
        chance = drawn((shape[0],), *self.factor)
        is_changed = drawn((shape[0],)) < chance
        return is_changed, drawn((2,), *self.sigma) + np.float32(1e-6)

    def change(self, images, made):
        return kept_within(chosen(made[0], blurred(images, self.kernel_size, made[1]), images), self.value_range)


class RandomColorJitter(ImageLayer):
    """Brightness, contrast, saturation and hue, one after the other."""

    def __init__(
        self,
        value_range=(0, 255),
        brightness_factor=None,
        contrast_factor=None,
        saturation_factor=None,
        hue_factor=None,
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format, seed, **kwargs)
        factors = (brightness_factor, contrast_factor, saturation_factor, hue_factor)
        kinds = (RandomBrightness, RandomContrast, RandomSaturation, RandomHue)
        self.parts = [kind(factor, value_range) for kind, factor in zip(kinds, factors) if factor is not None]

    def change(self, images, made):
        for part in self.parts:
            images = part.change(images, part.draw(images.shape))
        return images


class Solarization(ImageLayer):
    """Turns around what is brighter than a threshold."""

    bounds = (0.0, 1.0)

    def __init__(self, addition_factor=0.0, threshold_factor=0.0, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.addition_factor, self.threshold_factor = self.limits(addition_factor), self.limits(threshold_factor)
        self.value_range = tuple(sorted(value_range))

    def draw(self, shape):
        pairs = (self.addition_factor, self.threshold_factor)
        return [Tensor(drawn((shape[0], 1, 1, 1), low, high * 255)) for low, high in pairs]

    def change(self, images, made):
        bright = ops.clamp(rescaled(images, self.value_range, (0, 255)) + made[0], 0.0, 255.0)
        return rescaled(ops.where(bright < made[1], bright, 255 - bright), (0, 255), self.value_range)


class AutoContrast(ImageLayer):
    """Stretches each image's channels over the whole range."""

    is_for_training = False

    def __init__(self, value_range=(0, 255), **kwargs):
        super().__init__(**kwargs)
        self.value_range = tuple(sorted(value_range))

    def change(self, images, made):
        x = rescaled(images, self.value_range, (0, 255))
        low, high = ops.amin(x, (1, 2), True), ops.amax(x, (1, 2), True)
        is_flat = high == low
        scale = 255.0 / ops.where(is_flat, ops.ones_like(high), high - low)
        bright = rescaled(ops.clamp(x * scale - low * scale, 0.0, 255.0), (0, 255), self.value_range)
        return ops.where(is_flat, images, bright)
