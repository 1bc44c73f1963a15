"""Layers that move pixels: flips, crops, rotations, and the like."""

import math

import numpy as np
from mindspore import Tensor, ops

from .images import cropped, image_resize, largest_crop
from .images_base import ImageLayer, chosen, drawn, projected, sampled
from .images_colours import blurred
from .random_values import Chance


class RandomFlip(ImageLayer):
    def __init__(self, mode="horizontal_and_vertical", seed=None, data_format=None, **kwargs):
        super().__init__(data_format, seed, **kwargs)
        self.mode = mode

    def draw(self, shape):
        return drawn((shape[0], 1, 1, 1)) <= 0.5

    def change(self, images, made):
        if "horizontal" in self.mode:
            images = chosen(made, ops.flip(images, (2,)), images)
        return chosen(made, ops.flip(images, (1,)), images) if "vertical" in self.mode else images

    change_masks = change


class CenterCrop(ImageLayer):
    is_for_training = False

    def __init__(self, height, width, data_format=None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.height, self.width = height, width

    def change(self, images, made):
        size = images.shape[1:3]
        if size[0] >= self.height and size[1] >= self.width:
            top, left = (size[0] - self.height) // 2, (size[1] - self.width) // 2
            return cropped(images, top, left, self.height, self.width)
        images = cropped(images, *largest_crop(size, (self.height, self.width)))
        return image_resize(images, (self.height, self.width))

    change_masks = change


class RandomCrop(ImageLayer):
    def __init__(self, height, width, seed=None, data_format=None, **kwargs):
        super().__init__(data_format, seed, **kwargs)
        self.height, self.width = height, width

    def draw(self, shape):
        if shape[1] > self.height and shape[2] > self.width:
            return tuple(
                int(drawn((), 0, size - wanted + 1)) for size, wanted in zip(shape[1:], (self.height, self.width))
            )
        return largest_crop(shape[1:3], (self.height, self.width))[:2]

    def change(self, images, made):
        images = cropped(images, *made, self.height, self.width)
        wanted = (self.height, self.width)
        return images if tuple(images.shape[1:3]) == wanted else image_resize(images, wanted)

    change_masks = change


class MovedImages(ImageLayer):
    """Images through matrices that are drawn."""

    def __init__(self, fill_mode="reflect", interpolation="bilinear", fill_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.fill_mode, self.interpolation, self.fill_value = fill_mode, interpolation, fill_value

    def draw(self, shape):
        return self.matrices(shape).reshape(shape[0], 8)

    def change(self, images, made):
        return projected(images, made, self.interpolation, self.fill_mode, self.fill_value)

    def change_masks(self, masks, made):
        return projected(masks, made, "nearest", self.fill_mode, self.fill_value)


def matrix_rows(count, *numbers):
    """A row of eight numbers an image."""
    return np.stack([np.broadcast_to(np.asarray(each, np.float32).reshape(-1), (count,)) for each in numbers], 1)


class RandomZoom(MovedImages):
    def __init__(
        self,
        height_factor,
        width_factor=None,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        data_format=None,
        **kwargs,
    ):
        super().__init__(fill_mode, interpolation, fill_value, seed=seed, data_format=data_format, **kwargs)
        self.height_limits = self.limits(height_factor)
        self.width_limits = None if width_factor is None else self.limits(width_factor)

    def matrices(self, shape):
        count, height, width, _ = shape
        y = drawn((count, 1), 1 + self.height_limits[0], 1 + self.height_limits[1])
        x = y if self.width_limits is None else drawn((count, 1), 1 + self.width_limits[0], 1 + self.width_limits[1])
        return matrix_rows(count, x, 0, (width - 1) / 2 * (1 - x), 0, y, (height - 1) / 2 * (1 - y), 0, 0)


class RandomRotation(MovedImages):
    def __init__(
        self,
        factor,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        data_format=None,
        **kwargs,
    ):
        super().__init__(fill_mode, interpolation, fill_value, seed=seed, data_format=data_format, **kwargs)
        self.factor = self.limits(factor)

    def matrices(self, shape):
        count, height, width, _ = shape
        angle = drawn((count,), self.factor[0] * 360.0, self.factor[1] * 360.0) * np.float32(math.pi / 180)
        cos, sin, x, y = np.cos(angle), np.sin(angle), 0.5 * (width - 1), 0.5 * (height - 1)
        return matrix_rows(count, cos, -sin, x - x * cos + y * sin, sin, cos, y - x * sin - y * cos, 0, 0)


class RandomTranslation(MovedImages):
    def __init__(
        self,
        height_factor,
        width_factor,
        fill_mode="reflect",
        interpolation="bilinear",
        seed=None,
        fill_value=0.0,
        data_format=None,
        **kwargs,
    ):
        super().__init__(fill_mode, interpolation, fill_value, seed=seed, data_format=data_format, **kwargs)
        self.height_limits, self.width_limits = self.limits(height_factor), self.limits(width_factor)

    def matrices(self, shape):
        count, height, width, _ = shape
        y = drawn((count, 1), *self.height_limits) * height
        x = drawn((count, 1), *self.width_limits) * width
        return matrix_rows(count, 1, 0, -x, 0, 1, -y, 0, 0)


class RandomShear(MovedImages):
    def __init__(
        self,
        x_factor=0.0,
        y_factor=0.0,
        interpolation="bilinear",
        fill_mode="reflect",
        fill_value=0.0,
        data_format=None,
        seed=None,
        **kwargs,
    ):
        super().__init__(fill_mode, interpolation, fill_value, seed=seed, data_format=data_format, **kwargs)
        self.x_limits, self.y_limits = self.limits(x_factor), self.limits(y_factor)

    def matrices(self, shape):
        count = shape[0]
        sign = np.where(drawn((count, 1)) > 0.5, -1.0, 1.0)
        y = drawn((count, 1), *self.y_limits) * sign
        x = drawn((count, 1), *self.x_limits) * sign
        return matrix_rows(count, 1, x, 0, y, 1, 0, 0, 0)


def homographies(start, end):
    """The matrices that send the four points of `end` to those of `start`; both (batch, 4, 2)."""
    x, y, u, v = end[..., 0], end[..., 1], start[..., 0], start[..., 1]
    one, zero = np.ones_like(x), np.zeros_like(x)
    across = np.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1)
    down = np.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1)
    system = np.stack([across, down], 2).reshape(-1, 8, 8)
    return np.linalg.solve(system, start.reshape(-1, 8, 1))[..., 0]


class RandomPerspective(ImageLayer):
    bounds = (0.0, 1.0)

    def __init__(
        self,
        factor=1.0,
        scale=1.0,
        interpolation="bilinear",
        fill_value=0.0,
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format, seed, **kwargs)
        self.factor, self.scale = self.limits(factor), scale
        self.interpolation, self.fill_value = interpolation, fill_value

    def draw(self, shape):
        count, height, width, _ = shape
        chance = drawn((count,), *self.factor)
        is_changed = drawn((count,)) < chance
        corners = np.array([[0, 0], [width - 1, 0], [0, height - 1], [width - 1, height - 1]], np.float32)
        start = np.broadcast_to(corners, (count, 4, 2))
        end = start + start * drawn((count, 4, 2), -0.5 * self.scale, 0.5 * self.scale)
        return is_changed, homographies(start, end)

    def change(self, images, made, interpolation=None):
        moved = projected(images, made[1], interpolation or self.interpolation, "constant", self.fill_value)
        return chosen(made[0], moved, images)

    def change_masks(self, masks, made):
        return self.change(masks, made, "nearest")


class RandomElasticTransform(ImageLayer):
    bounds = (0.0, 1.0)

    def __init__(
        self,
        factor=1.0,
        scale=1.0,
        interpolation="bilinear",
        fill_mode="reflect",
        fill_value=0.0,
        value_range=(0, 255),
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format, seed, **kwargs)
        self.factor, self.scale, self.value_range = self.limits(factor), self.limits(scale), value_range
        self.interpolation, self.fill_mode, self.fill_value = interpolation, fill_mode, fill_value

    def draw(self, shape):
        count, height, width, _ = shape
        chance = drawn((count,), *self.factor)
        is_changed = drawn((count,)) < chance
        strength = float(drawn((), *self.scale))
        noise = Chance.generator.normal(0, 1, (count, height, width)).astype(np.float32)
        spread = min(height, width) * 0.05 * strength
        size = 6 * int(spread) | 1
        way = blurred(Tensor(noise[..., None] * np.float32(spread)), (size, size), (spread, spread))
        return is_changed, way.asnumpy()[..., 0] * (max(height, width) * 0.1 * strength)

    def change(self, images, made, interpolation=None):
        _, height, width, _ = images.shape
        y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
        rows, columns = y + made[1], x + made[1]  # TensorFlow draws both with one seed: they are the same
        moved = filled(images, rows, columns, interpolation or self.interpolation, self.fill_mode, self.fill_value)
        return ops.clamp(chosen(made[0], moved, images), float(self.value_range[0]), float(self.value_range[1]))

    def change_masks(self, masks, made):
        return self.change(masks, made, "nearest")


def filled(images, rows, columns, interpolation, mode, fill_value):
    """The images at places between pixels; beyond the ends, whole pixels are found as Keras' map_coordinates does."""

    def whole(place, size):
        if mode == "constant":
            return place
        if mode == "wrap":
            return place % size
        if mode == "nearest":
            return np.clip(place, 0, size - 1)
        place = np.abs(place) % (2 * size)
        return np.where(place < size, place, 2 * size - place - (1 if mode == "reflect" else 0))

    _, height, width, _ = images.shape
    if interpolation == "nearest":
        ends = [(np.rint(rows), 1.0, np.rint(columns), 1.0)]
    else:
        top, left = np.floor(rows), np.floor(columns)
        down, right = rows - top, columns - left
        ends = [(top + a, down if a else 1 - down, left + b, right if b else 1 - right) for a in (0, 1) for b in (0, 1)]
    made = 0.0
    for row, weight, column, other in ends:
        row, column = whole(row, height).astype(np.float32), whole(column, width).astype(np.float32)
        share = np.broadcast_to(weight * other, row.shape).astype(np.float32)[..., None]
        made = made + Tensor(share) * sampled(images, row, column, "nearest", fill_value)
    return made
