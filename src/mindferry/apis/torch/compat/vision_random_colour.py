"""Transforms that change colours at random, and those that do so without randomness."""

from .host_numbers import python_numbers
from .vision_colour import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_saturation,
    adjust_sharpness,
    autocontrast_image,
    equalize_image,
    gaussian_blur_image,
    grayscale_image,
    invert_image,
    posterize_image,
    solarize_image,
)
from .vision_images import image_dimensions
from .vision_transforms import Transform


class ColorJitter(Transform):
    """torchvision.transforms.ColorJitter: four changes in random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        self.brightness = jitter_range(brightness)
        self.contrast = jitter_range(contrast)
        self.saturation = jitter_range(saturation)
        self.hue = jitter_range(hue, centre=0, least=-0.5)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        ranges = (brightness, contrast, saturation, hue)
        return (
            python_numbers().sample(range(4), 4),
            *(None if each is None else python_numbers().uniform(each[0], each[1]) for each in ranges),
        )

    def __call__(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (adjust_brightness, adjust_contrast, adjust_saturation, adjust_hue)
        for number in order:
            if factors[number] is not None:
                img = changes[number](img, factors[number])
        return img


def jitter_range(value, centre=1, least=0.0):
    """A number is a distance from the centre; (least, most) a range; None where nothing changes."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError("A single number must be non negative.")
        value = [centre - float(value), centre + float(value)]
        value[0] = max(value[0], least) if centre else value[0]
    value = [float(value[0]), float(value[1])]
    return None if value[0] == value[1] == centre else (value[0], value[1])


class Grayscale(Transform):
    def __init__(self, num_output_channels=1):
        self.num_output_channels = num_output_channels

    def __call__(self, img):
        return grayscale_image(img, self.num_output_channels)


class RandomGrayscale(Transform):
    def __init__(self, p=0.1):
        self.p = p

    def __call__(self, img):
        return grayscale_image(img, image_dimensions(img)[0]) if python_numbers().random() < self.p else img


class GaussianBlur(Transform):
    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        self.kernel_size = kernel_size
        self.sigma = (sigma, sigma) if isinstance(sigma, (int, float)) else sigma

    @staticmethod
    def get_params(sigma_min, sigma_max):
        return python_numbers().uniform(sigma_min, sigma_max)

    def __call__(self, img):
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return gaussian_blur_image(img, self.kernel_size, [sigma, sigma])


class RandomInvert(Transform):
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return invert_image(img) if python_numbers().random() < self.p else img


class RandomPosterize(Transform):
    def __init__(self, bits, p=0.5):
        self.bits, self.p = bits, p

    def __call__(self, img):
        return posterize_image(img, self.bits) if python_numbers().random() < self.p else img


class RandomSolarize(Transform):
    def __init__(self, threshold, p=0.5):
        self.threshold, self.p = threshold, p

    def __call__(self, img):
        return solarize_image(img, self.threshold) if python_numbers().random() < self.p else img


class RandomAdjustSharpness(Transform):
    def __init__(self, sharpness_factor, p=0.5):
        self.sharpness_factor, self.p = sharpness_factor, p

    def __call__(self, img):
        return adjust_sharpness(img, self.sharpness_factor) if python_numbers().random() < self.p else img


class RandomAutocontrast(Transform):
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return autocontrast_image(img) if python_numbers().random() < self.p else img


class RandomEqualize(Transform):
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img):
        return equalize_image(img) if python_numbers().random() < self.p else img
