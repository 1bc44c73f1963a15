"""What the layers that change images share: their inputs, their draws, and where pixels are taken from."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .layers_base import Layer
from .random_values import Chance
from .tensors import as_tensor


def drawn(shape, low=0.0, high=1.0):
    """Uniform numbers, as an array."""
    return np.asarray(Chance.generator.uniform(low, high, shape), np.float32)


class ImageLayer(Layer):
    """Changes images in training, and hands them on otherwise.

    `draw` gives what is random for a batch, `change` makes the new images of it: channels last, float32. In a dictionary,
    `labels` go along with the images and `segmentation_masks` are moved as these are.
    """

    bounds, is_for_training = (-1.0, 1.0), True

    def __init__(self, data_format=None, seed=None, bounding_box_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format, self.seed = data_format or "channels_last", seed

    def limits(self, factor):
        """(lowest, highest) from one number or two."""
        if isinstance(factor, (list, tuple)):
            return tuple(sorted(factor))
        return max(-abs(factor), self.bounds[0]), abs(factor)

    def call(self, data, training=True):
        is_active = training or not self.is_for_training
        if not isinstance(data, dict):
            return self.changed(data, self.draw(self.batch_shape(data)) if is_active else None, is_active)
        if "bounding_boxes" in data:
            data = {**data, "bounding_boxes": self.change_boxes(data["bounding_boxes"])}
        made = self.draw(self.batch_shape(data["images"])) if is_active else None
        result = {**data, "images": self.changed(data["images"], made, is_active)}
        if "labels" in data and is_active:
            result["labels"] = self.change_labels(as_tensor(data["labels"]), made)
        if "segmentation_masks" in data:
            masks = as_tensor(data["segmentation_masks"])
            result["segmentation_masks"] = ops.cast(self.changed(masks, made, is_active, "masks"), masks.dtype)
        return result

    def batch_shape(self, images):
        """(batch, height, width, channels)."""
        shape = tuple(images.shape)
        shape = shape if len(shape) == 4 else (1, *shape)
        return shape if self.data_format == "channels_last" else (shape[0], *shape[2:], shape[1])

    def changed(self, images, made, is_active, kind="images"):
        images = ops.cast(as_tensor(images), ms.float32)
        if not is_active:
            return images
        x = images if images.ndim == 4 else ops.expand_dims(images, 0)
        x = x if self.data_format == "channels_last" else ops.transpose(x, (0, 2, 3, 1))
        x = self.change(x, made) if kind == "images" else self.change_masks(x, made)
        x = x if self.data_format == "channels_last" else ops.transpose(x, (0, 3, 1, 2))
        return x if images.ndim == 4 else ops.squeeze(x, 0)

    def draw(self, shape):
        return None

    def change(self, images, made):
        raise NotImplementedError(f"{type(self).__name__} does not say how it changes images")

    def change_labels(self, labels, made):
        return labels

    def change_masks(self, masks, made):
        return masks

    def change_boxes(self, boxes):
        raise NotImplementedError(
            f"{type(self).__name__} does not move bounding_boxes: move them in the data's map function"
        )


def rescaled(images, low_high, wanted):
    """From one range of brightness to another."""
    if tuple(low_high) == tuple(wanted):
        return images
    share = (images - low_high[0]) / (low_high[1] - low_high[0])
    return share * (wanted[1] - wanted[0]) + wanted[0]


def chosen(is_chosen, first, second):
    """Of each image the first where `is_chosen`, else the second."""
    return ops.where(Tensor(np.asarray(is_chosen).reshape(-1, 1, 1, 1)), first, second)


def inside(place, size, mode):
    """Places on an axis of `size` for places beyond its ends, as TensorFlow fills them."""
    if mode == "constant":
        return place
    if mode == "reflect":
        below = 2 * size * np.trunc(-place / (2 * size)) + place
        below = np.where(below < -size, below + 2 * size, -below - 1)
        above = place - 2 * size * np.trunc(place / (2 * size))
        above = np.where(above >= size, 2 * size - above - 1, above)
        place = np.where(place < 0, below, np.where(place > size - 1, above, place))
    elif mode == "wrap":
        below = place + size * (np.trunc(-place / (size - 1)) + 1)
        above = place - size * np.trunc(place / (size - 1))
        place = np.where(place < 0, below, np.where(place > size - 1, above, place))
    return np.clip(place, 0, size - 1).astype(np.float32)


def pixels(images, rows, columns, fill_value):
    """images[batch, rows, columns], and the fill value outside; rows and columns are arrays (batch, height, width)."""
    batch, height, width, channels = images.shape
    is_in = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    first = np.arange(batch).reshape(-1, 1, 1) * (height * width)
    places = first + np.clip(rows, 0, height - 1) * width + np.clip(columns, 0, width - 1)
    flat_images = ops.reshape(images, (batch * height * width, channels))
    found = ops.gather(flat_images, Tensor(places.reshape(-1).astype(np.int32)), 0)
    found = ops.reshape(found, (batch, *rows.shape[1:], channels))
    return ops.where(Tensor(is_in[..., None]), found, ops.full_like(found, float(fill_value)))


def sampled(images, rows, columns, interpolation, fill_value):
    """The images at places between pixels."""
    if interpolation == "nearest":
        rows, columns = (np.sign(each) * np.floor(np.abs(each) + 0.5) for each in (rows, columns))
        return pixels(images, rows.astype(np.int64), columns.astype(np.int64), fill_value)
    top, left = np.floor(rows), np.floor(columns)
    down, right = (Tensor((a - b).astype(np.float32)[..., None]) for a, b in ((rows, top), (columns, left)))
    top, left = top.astype(np.int64), left.astype(np.int64)
    upper = (1 - right) * pixels(images, top, left, fill_value) + right * pixels(images, top, left + 1, fill_value)
    lower = (1 - right) * pixels(images, top + 1, left, fill_value) + right * pixels(
        images, top + 1, left + 1, fill_value
    )
    return (1 - down) * upper + down * lower


def projected(images, matrices, interpolation, fill_mode, fill_value):
    """Each pixel from where the eight numbers of its image's matrix send it."""
    _, height, width, _ = images.shape
    y, x = np.meshgrid(np.arange(height, dtype=np.float32), np.arange(width, dtype=np.float32), indexing="ij")
    a0, a1, a2, b0, b1, b2, c0, c1 = (each.reshape(-1, 1, 1) for each in matrices.astype(np.float32).T)
    depth = c0 * x + c1 * y + 1
    columns = inside((a0 * x + a1 * y + a2) / depth, width, fill_mode)
    rows = inside((b0 * x + b1 * y + b2) / depth, height, fill_mode)
    return sampled(images, rows, columns, interpolation, fill_value)
