"""Layers that mix images, erase parts of them, or choose among other layers."""

import numpy as np
from mindspore import Tensor, ops

from .images_base import ImageLayer, chosen, drawn
from .images_colours import (
    AutoContrast,
    RandomBrightness,
    RandomColorDegeneration,
    RandomContrast,
    RandomPosterization,
    RandomSharpness,
    Solarization,
    kept_within,
)
from .images_histograms import Equalization
from .images_moved import RandomRotation, RandomShear, RandomTranslation
from .random_values import Chance


class MixUp(ImageLayer):
    """Means of two images, and of their labels."""

    def __init__(self, alpha=0.2, data_format=None, seed=None, **kwargs):
        super().__init__(data_format, seed, **kwargs)
        self.alpha = alpha

    def draw(self, shape):
        order = Chance.generator.permutation(shape[0]).astype(np.int32)
        return Tensor(order), Chance.generator.beta(self.alpha, self.alpha, (shape[0],)).astype(np.float32)

    def change(self, images, made):
        share = Tensor(made[1].reshape(-1, 1, 1, 1))
        return share * images + (1 - share) * ops.gather(images, made[0], 0)

    def change_labels(self, labels, made):
        share = Tensor(made[1].reshape(-1, 1))
        return share * labels + (1 - share) * ops.gather(labels, made[0], 0)


def drawn_box(count, size, share):
    """(first, last) on an axis: a part as long as `share` of it."""
    length = share * np.float32(size)
    first = drawn((count,)) * (size - length)
    return first, first + length


def boxes_mask(shape, columns, rows):
    """True in each image's box."""
    y, x = np.arange(shape[1]).reshape(1, -1, 1, 1), np.arange(shape[2]).reshape(1, 1, -1, 1)
    left, right, top, bottom = (each.reshape(-1, 1, 1, 1) for each in (*columns, *rows))
    is_in = (x >= left) & (x < right) & (y >= top) & (y < bottom)
    return Tensor(np.broadcast_to(is_in, shape).copy())


class CutMix(ImageLayer):
    """A part of each image from another, and the labels by the part's size."""

    bounds = (0.0, 1.0)

    def __init__(self, factor=1.0, seed=None, data_format=None, **kwargs):
        super().__init__(data_format, seed, **kwargs)
        self.factor = self.limits(factor)

    def draw(self, shape):
        count = shape[0]
        alpha = drawn((), *self.factor) + np.float32(1e-6)
        share = np.sqrt(1 - Chance.generator.beta(alpha, alpha, (count,)).astype(np.float32))
        columns, rows = drawn_box(count, shape[2], share), drawn_box(count, shape[1], share)
        mask = boxes_mask(shape, columns, rows)
        order = Tensor(Chance.generator.permutation(count).astype(np.int32))
        kept = 1 - (columns[1] - columns[0]) * (rows[1] - rows[0]) / (shape[1] * shape[2])
        return order, mask, kept.astype(np.float32)

    def change(self, images, made):
        return ops.where(made[1], ops.gather(images, made[0], 0), images)

    def change_labels(self, labels, made):
        kept = Tensor(made[2].reshape(-1, 1))
        return kept * labels + (1 - kept) * ops.gather(labels, made[0], 0)


class RandomErasing(ImageLayer):
    """Fills a part of an image with one value, or with noise."""

    bounds = (0.0, 1.0)

    def __init__(
        self,
        factor=1.0,
        scale=(0.02, 0.33),
        fill_value=None,
        value_range=(0, 255),
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format, seed, **kwargs)
        self.factor, self.scale = self.limits(factor), self.limits(scale)
        self.fill_value, self.value_range = fill_value, value_range

    def draw(self, shape):
        count = shape[0]
        share = np.sqrt(drawn((count, 2), *self.scale))
        columns, rows = drawn_box(count, shape[2], share[:, 0]), drawn_box(count, shape[1], share[:, 1])
        mask = boxes_mask(shape, columns, rows)
        chance = drawn((count,), *self.factor)
        is_erased = drawn((count,)) < chance
        if self.fill_value is None:
            filler = Chance.generator.normal(0, 1, shape) * self.value_range[1]
        else:
            filler = np.broadcast_to(np.asarray(self.fill_value, np.float32), shape)
        return mask, is_erased, Tensor(np.clip(filler, *self.value_range).astype(np.float32))

    def change(self, images, made):
        return chosen(made[1], ops.where(made[0], made[2], images), images)


AUGMIX_NAMES = (
    "random_shear",
    "random_translation",
    "random_rotation",
    "random_posterization",
    "solarization",
    "auto_contrast",
    "equalization",
)
COLOUR_NAMES = ("random_brightness", "random_color_degeneration", "random_contrast", "random_sharpness")


def augmentations(factor, value_range, interpolation):
    """The layers that RandAugment and AugMix choose from, in their order."""
    places = {"interpolation": interpolation}
    return {
        "random_shear": RandomShear(factor, factor, **places),
        "random_translation": RandomTranslation(factor, factor, **places),
        "random_rotation": RandomRotation(factor, **places),
        "random_brightness": RandomBrightness(factor, value_range),
        "random_color_degeneration": RandomColorDegeneration(factor, value_range),
        "random_contrast": RandomContrast(factor, value_range),
        "random_sharpness": RandomSharpness(factor, value_range),
        "random_posterization": RandomPosterization(max(1, int(8 * factor[1])), value_range),
        "solarization": Solarization(factor, factor, value_range),
        "auto_contrast": AutoContrast(value_range),
        "equalization": Equalization(value_range),
    }


class RandAugment(ImageLayer):
    """Some of the layers, one after the other: which, and how strong, is drawn."""

    bounds = (0.0, 1.0)

    def __init__(
        self,
        value_range=(0, 255),
        num_ops=2,
        factor=0.5,
        interpolation="bilinear",
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format, seed, **kwargs)
        self.num_ops = num_ops
        self.parts = list(augmentations(self.limits(factor), value_range, interpolation).values())

    def draw(self, shape):
        places = Chance.generator.integers(0, len(self.parts), (self.num_ops,)).tolist()
        return places, [part.draw(shape) for part in self.parts]

    def change(self, images, made):
        for place in made[0]:
            images = self.parts[place].change(images, made[1][place])
        return images


class AugMix(ImageLayer):
    """A mean of the image and of chains of layers."""

    bounds = (0.0, 1.0)

    def __init__(
        self,
        value_range=(0, 255),
        num_chains=3,
        chain_depth=3,
        factor=0.3,
        alpha=1.0,
        all_ops=True,
        interpolation="bilinear",
        seed=None,
        data_format=None,
        **kwargs,
    ):
        super().__init__(data_format, seed, **kwargs)
        self.value_range, self.num_chains, self.chain_depth, self.alpha = value_range, num_chains, chain_depth, alpha
        known = augmentations(self.limits(factor), value_range, interpolation)
        self.parts = [known[name] for name in (*AUGMIX_NAMES, *(COLOUR_NAMES if all_ops else ()))]

    def draw(self, shape):
        shares = Chance.generator.gamma(self.alpha, size=(self.num_chains,)).astype(np.float32)
        kept = np.float32(Chance.generator.beta(self.alpha, self.alpha, ()))
        chains = []
        for _ in range(self.num_chains):
            chain = []
            for _ in range(self.chain_depth):
                place = int(Chance.generator.integers(0, len(self.parts) + 1))  # the last is none
                if place < len(self.parts):
                    chain.append((self.parts[place], self.parts[place].draw(shape)))
            chains.append(chain)
        return shares / shares.sum(), kept, chains

    def change(self, images, made):
        mixed = ops.zeros_like(images)
        for share, chain in zip(made[0], made[2]):
            x = images
            for part, drawn_for_part in chain:
                x = part.change(x, drawn_for_part)
            mixed = mixed + x * float(share)
        return kept_within(float(made[1]) * images + (1 - float(made[1])) * mixed, self.value_range)


class MaxNumBoundingBoxes(ImageLayer):
    """As many boxes for every image: those that are too many go, missing ones are filled up."""

    def __init__(self, max_number, fill_value=-1, **kwargs):
        super().__init__(**kwargs)
        self.max_number, self.fill_value = int(max_number), int(fill_value)

    def change(self, images, made):
        return images

    def change_boxes(self, boxes):
        made = {}
        for name in ("boxes", "labels"):
            values = ops.narrow(boxes[name], 1, 0, min(self.max_number, boxes[name].shape[1]))
            missing = self.max_number - values.shape[1]
            if missing:
                rest = ops.full((values.shape[0], missing, *values.shape[2:]), self.fill_value, dtype=values.dtype)
                values = ops.cat([values, rest], 1)
            made[name] = values
        return {**boxes, **made}
