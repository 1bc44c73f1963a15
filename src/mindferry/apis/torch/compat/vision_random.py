"""Transforms that move, cut or flip at random. The random numbers are Python's, or set apart from them by a seed."""

import math

from .host_numbers import python_numbers
from .vision_geometry import crop_image, hflip_image, pad_image, pair, resized_crop_image, vflip_image
from .vision_images import image_dimensions
from .vision_transforms import Transform


class RandomCrop(Transform):
    @staticmethod
    def get_params(img, output_size):
        _, rows, columns = image_dimensions(img)
        height, width = output_size
        if rows < height or columns < width:
            raise ValueError(f"Required crop size {(height, width)} is larger than input image size {(rows, columns)}")
        return python_numbers().randint(0, rows - height), python_numbers().randint(0, columns - width), height, width

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        self.size, self.padding = pair(size), padding
        self.pad_if_needed, self.fill, self.padding_mode = pad_if_needed, fill, padding_mode

    def __call__(self, img):
        if self.padding is not None:
            img = pad_image(img, self.padding, self.fill, self.padding_mode)
        _, rows, columns = image_dimensions(img)
        if self.pad_if_needed and columns < self.size[1]:
            img = pad_image(img, [self.size[1] - columns, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and rows < self.size[0]:
            img = pad_image(img, [0, self.size[0] - rows], self.fill, self.padding_mode)
        return crop_image(img, *self.get_params(img, self.size))


class RandomHorizontalFlip(Transform):
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return hflip_image(img) if python_numbers().random() < self.p else img


class RandomVerticalFlip(Transform):
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return vflip_image(img) if python_numbers().random() < self.p else img


class RandomResizedCrop(Transform):
    @staticmethod
    def get_params(img, scale, ratio):
        _, rows, columns = image_dimensions(img)
        logarithms = math.log(ratio[0]), math.log(ratio[1])
        for _ in range(10):
            area = rows * columns * python_numbers().uniform(scale[0], scale[1])
            aspect = math.exp(python_numbers().uniform(*logarithms))
            width, height = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < width <= columns and 0 < height <= rows:
                return (
                    python_numbers().randint(0, rows - height),
                    python_numbers().randint(0, columns - width),
                    height,
                    width,
                )
        width, height = columns, rows
        if columns / rows < min(ratio):
            height = round(columns / min(ratio))
        elif columns / rows > max(ratio):
            width = round(rows * max(ratio))
        return (rows - height) // 2, (columns - width) // 2, height, width

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=2, antialias=True):
        self.size, self.scale, self.ratio = pair(size), scale, ratio
        self.interpolation, self.antialias = interpolation, antialias

    def __call__(self, img):
        return resized_crop_image(
            img, *self.get_params(img, self.scale, self.ratio), self.size, self.interpolation, self.antialias
        )
