"""Transforms that rotate, shear, distort or erase at random."""

import math

import numpy as np

from .host_numbers import host_numbers, python_numbers
from .vision_colour import blur_array
from .vision_geometry import erase_image
from .vision_images import image_dimensions, is_pil, on_array
from .vision_transforms import Transform
from .vision_warp import affine_image, elastic_image, perspective_image, rotate_image


def channel_fill(img, fill):
    """Arrays want one number for each channel."""
    if is_pil(img) or fill is None:
        return fill
    return (
        [float(fill)] * image_dimensions(img)[0] if isinstance(fill, (int, float)) else [float(each) for each in fill]
    )


def symmetric(value):
    return [-float(value), float(value)] if isinstance(value, (int, float)) else [float(each) for each in value]


class RandomRotation(Transform):
    def __init__(self, degrees, interpolation=0, expand=False, center=None, fill=0):
        self.degrees, self.interpolation = symmetric(degrees), interpolation
        self.expand, self.center, self.fill = expand, center, fill

    @staticmethod
    def get_params(degrees):
        return python_numbers().uniform(degrees[0], degrees[1])

    def __call__(self, img):
        return rotate_image(
            img,
            self.get_params(self.degrees),
            self.interpolation,
            self.expand,
            self.center,
            channel_fill(img, self.fill),
        )


class RandomAffine(Transform):
    def __init__(self, degrees, translate=None, scale=None, shear=None, interpolation=0, fill=0, center=None):
        self.degrees, self.translate, self.scale = symmetric(degrees), translate, scale
        self.shear = None if shear is None else symmetric(shear)
        self.interpolation, self.fill, self.center = interpolation, fill, center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        angle = python_numbers().uniform(degrees[0], degrees[1])
        shift = (0, 0)
        if translate is not None:
            most = [float(translate[axis] * img_size[axis]) for axis in range(2)]
            shift = tuple(round(python_numbers().uniform(-each, each)) for each in most)
        scale = 1.0 if scale_ranges is None else python_numbers().uniform(scale_ranges[0], scale_ranges[1])
        shear_x = python_numbers().uniform(shears[0], shears[1]) if shears is not None else 0.0
        shear_y = python_numbers().uniform(shears[2], shears[3]) if shears is not None and len(shears) == 4 else 0.0
        return angle, shift, scale, (shear_x, shear_y)

    def __call__(self, img):
        _, height, width = image_dimensions(img)
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return affine_image(img, *drawn, self.interpolation, channel_fill(img, self.fill), self.center)


class RandomPerspective(Transform):
    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=2, fill=0):
        self.distortion_scale, self.p, self.interpolation, self.fill = distortion_scale, p, interpolation, fill

    @staticmethod
    def get_params(width, height, distortion_scale):
        x, y = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        near_left, near_top = (lambda: python_numbers().randint(0, x)), (lambda: python_numbers().randint(0, y))
        near_right, near_bottom = (
            (lambda: python_numbers().randint(width - x - 1, width - 1)),
            (lambda: python_numbers().randint(height - y - 1, height - 1)),
        )
        start = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
        end = [
            [near_left(), near_top()],
            [near_right(), near_top()],
            [near_right(), near_bottom()],
            [near_left(), near_bottom()],
        ]
        return start, end

    def __call__(self, img):
        if python_numbers().random() >= self.p:
            return img
        _, height, width = image_dimensions(img)
        drawn = self.get_params(width, height, self.distortion_scale)
        return perspective_image(img, *drawn, self.interpolation, channel_fill(img, self.fill))


class RandomErasing(Transform):
    """torchvision.transforms.RandomErasing: a rectangle of an array, after ToTensor."""

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        self.p, self.scale, self.ratio, self.value, self.inplace = p, scale, ratio, value, inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        channels, rows, columns = img.shape[-3:]
        for _ in range(10):
            area = rows * columns * python_numbers().uniform(scale[0], scale[1])
            aspect = math.exp(python_numbers().uniform(math.log(ratio[0]), math.log(ratio[1])))
            height, width = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if height < rows and width < columns:
                if value is None:
                    paint = host_numbers().standard_normal((channels, height, width)).astype(np.float32)
                else:
                    paint = np.asarray(value, dtype=np.float32)[:, None, None]
                return (
                    python_numbers().randint(0, rows - height),
                    python_numbers().randint(0, columns - width),
                    height,
                    width,
                    paint,
                )
        return 0, 0, rows, columns, img

    def __call__(self, img):
        if python_numbers().random() >= self.p:
            return img
        value = (
            [float(self.value)]
            if isinstance(self.value, (int, float))
            else None
            if isinstance(self.value, str)
            else self.value
        )
        return erase_image(img, *self.get_params(img, self.scale, self.ratio, value))


class ElasticTransform(Transform):
    def __init__(self, alpha=50.0, sigma=5.0, interpolation=2, fill=0):
        self.alpha = [alpha, alpha] if isinstance(alpha, (int, float)) else list(alpha)
        self.sigma = [sigma, sigma] if isinstance(sigma, (int, float)) else list(sigma)
        self.interpolation, self.fill = interpolation, fill

    @staticmethod
    def get_params(alpha, sigma, size):
        shifts = []
        for axis in range(2):
            shift = (host_numbers().random_sample((1, *size)) * 2 - 1).astype(np.float32)
            if sigma[axis] > 0:
                length = int(8 * sigma[axis] + 1) | 1
                shift = blur_array(shift, [length, length], sigma)
            shifts.append(shift * alpha[axis] / size[1 - axis])
        return np.stack(shifts, -1)

    def __call__(self, img):
        _, height, width = image_dimensions(img)
        return elastic_image(
            img,
            self.get_params(self.alpha, self.sigma, [height, width]),
            self.interpolation,
            channel_fill(img, self.fill),
        )


class LinearTransformation(Transform):
    """torchvision.transforms.LinearTransformation: flatten, subtract the mean, multiply by the matrix."""

    def __init__(self, transformation_matrix, mean_vector):
        self.transformation_matrix, self.mean_vector = (
            np.asarray(each.asnumpy() if hasattr(each, "asnumpy") else each)
            for each in (transformation_matrix, mean_vector)
        )

    def __call__(self, tensor):
        return on_array(self._apply, tensor)

    def _apply(self, array):
        shape = array.shape
        return ((array.reshape(-1, np.prod(shape[-3:])) - self.mean_vector) @ self.transformation_matrix).reshape(shape)
