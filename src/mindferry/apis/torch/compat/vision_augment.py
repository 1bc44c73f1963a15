"""Augmentation by learned or random policies: AutoAugment, RandAugment, TrivialAugmentWide, AugMix."""

import enum
import math

import numpy as np
from PIL import Image

from .host_numbers import host_numbers, python_numbers
from .vision_colour import (
    adjust_brightness,
    adjust_contrast,
    adjust_saturation,
    adjust_sharpness,
    autocontrast_image,
    equalize_image,
    invert_image,
    posterize_image,
    solarize_image,
)
from .vision_images import image_dimensions, is_pil
from .vision_random_warp import channel_fill
from .vision_transforms import Transform
from .vision_warp import affine_image, rotate_image

# A policy: two operations, each with its probability and the number of its strength.
AUTO_POLICIES = {
    "imagenet": """
        Posterize 0.4 8, Rotate 0.6 9
        Solarize 0.6 5, AutoContrast 0.6 -
        Equalize 0.8 -, Equalize 0.6 -
        Posterize 0.6 7, Posterize 0.6 6
        Equalize 0.4 -, Solarize 0.2 4
        Equalize 0.4 -, Rotate 0.8 8
        Solarize 0.6 3, Equalize 0.6 -
        Posterize 0.8 5, Equalize 1 -
        Rotate 0.2 3, Solarize 0.6 8
        Equalize 0.6 -, Posterize 0.4 6
        Rotate 0.8 8, Color 0.4 0
        Rotate 0.4 9, Equalize 0.6 -
        Equalize 0 -, Equalize 0.8 -
        Invert 0.6 -, Equalize 1 -
        Color 0.6 4, Contrast 1 8
        Rotate 0.8 8, Color 1 2
        Color 0.8 8, Solarize 0.8 7
        Sharpness 0.4 7, Invert 0.6 -
        ShearX 0.6 5, Equalize 1 -
        Color 0.4 0, Equalize 0.6 -
        Equalize 0.4 -, Solarize 0.2 4
        Solarize 0.6 5, AutoContrast 0.6 -
        Invert 0.6 -, Equalize 1 -
        Color 0.6 4, Contrast 1 8
        Equalize 0.8 -, Equalize 0.6 -
    """,
    "cifar10": """
        Invert 0.1 -, Contrast 0.2 6
        Rotate 0.7 2, TranslateX 0.3 9
        Sharpness 0.8 1, Sharpness 0.9 3
        ShearY 0.5 8, TranslateY 0.7 9
        AutoContrast 0.5 -, Equalize 0.9 -
        ShearY 0.2 7, Posterize 0.3 7
        Color 0.4 3, Brightness 0.6 7
        Sharpness 0.3 9, Brightness 0.7 9
        Equalize 0.6 -, Equalize 0.5 -
        Contrast 0.6 7, Sharpness 0.6 5
        Color 0.7 7, TranslateX 0.5 8
        Equalize 0.3 -, AutoContrast 0.4 -
        TranslateY 0.4 3, Sharpness 0.2 6
        Brightness 0.9 6, Color 0.2 8
        Solarize 0.5 2, Invert 0 -
        Equalize 0.2 -, AutoContrast 0.6 -
        Equalize 0.2 -, Equalize 0.6 -
        Color 0.9 9, Equalize 0.6 -
        AutoContrast 0.8 -, Solarize 0.2 8
        Brightness 0.1 3, Color 0.7 0
        Solarize 0.4 5, AutoContrast 0.9 -
        TranslateY 0.9 9, TranslateY 0.7 9
        AutoContrast 0.9 -, Solarize 0.8 3
        Equalize 0.8 -, Invert 0.1 -
        TranslateY 0.7 9, AutoContrast 0.9 -
    """,
    "svhn": """
        ShearX 0.9 4, Invert 0.2 -
        ShearY 0.9 8, Invert 0.7 -
        Equalize 0.6 -, Solarize 0.6 6
        Invert 0.9 -, Equalize 0.6 -
        Equalize 0.6 -, Rotate 0.9 3
        ShearX 0.9 4, AutoContrast 0.8 -
        ShearY 0.9 8, Invert 0.4 -
        ShearY 0.9 5, Solarize 0.2 6
        Invert 0.9 -, AutoContrast 0.8 -
        Equalize 0.6 -, Rotate 0.9 3
        ShearX 0.9 4, Solarize 0.3 3
        ShearY 0.8 8, Invert 0.7 -
        Equalize 0.9 -, TranslateY 0.6 6
        Invert 0.9 -, Equalize 0.6 -
        Contrast 0.3 3, Rotate 0.8 4
        Invert 0.8 -, TranslateY 0 2
        ShearY 0.7 6, Solarize 0.4 8
        Invert 0.6 -, Rotate 0.8 4
        ShearY 0.3 7, TranslateX 0.9 3
        ShearX 0.1 6, Invert 0.6 -
        Solarize 0.7 2, TranslateY 0.6 7
        ShearY 0.8 4, Invert 0.8 -
        ShearX 0.7 9, TranslateY 0.8 3
        ShearY 0.8 5, AutoContrast 0.7 -
        ShearX 0.7 2, Invert 0.1 -
    """,
}


class AutoAugmentPolicy(enum.Enum):
    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def strengths(bins, height, width, wide=False):
    """Operation -> (its strengths, whether they have a sign)."""
    shear, turn, colour, darkest = (0.99, 135.0, 0.99, 6) if wide else (0.3, 30.0, 0.9, 4)
    shift = (32.0, 32.0) if wide else (150.0 / 331.0 * width, 150.0 / 331.0 * height)
    signed = {"ShearX": shear, "ShearY": shear, "TranslateX": shift[0], "TranslateY": shift[1], "Rotate": turn}
    signed.update(dict.fromkeys(["Brightness", "Color", "Contrast", "Sharpness"], colour))
    space = {name: (np.linspace(0.0, most, bins), True) for name, most in signed.items()}
    space["Posterize"] = (8 - np.rint(np.arange(bins) / ((bins - 1) / darkest)).astype(int), False)
    space["Solarize"] = (np.linspace(255.0, 0.0, bins), False)
    space.update(dict.fromkeys(["AutoContrast", "Equalize"], (None, False)))
    return space


def augment(img, name, strength, interpolation, fill):
    """One operation by its name in the AutoAugment paper."""

    def move(translate=(0, 0), shear=(0.0, 0.0), center=None):
        return affine_image(img, 0.0, translate, 1.0, shear, interpolation, fill, center)

    angle = math.degrees(math.atan(strength))
    return {
        "Identity": lambda: img,
        "ShearX": lambda: move(shear=(angle, 0.0), center=[0, 0]),
        "ShearY": lambda: move(shear=(0.0, angle), center=[0, 0]),
        "TranslateX": lambda: move(translate=(int(strength), 0)),
        "TranslateY": lambda: move(translate=(0, int(strength))),
        "Rotate": lambda: rotate_image(img, strength, interpolation, fill=fill),
        "Brightness": lambda: adjust_brightness(img, 1.0 + strength),
        "Color": lambda: adjust_saturation(img, 1.0 + strength),
        "Contrast": lambda: adjust_contrast(img, 1.0 + strength),
        "Sharpness": lambda: adjust_sharpness(img, 1.0 + strength),
        "Posterize": lambda: posterize_image(img, int(strength)),
        "Solarize": lambda: solarize_image(img, strength),
        "AutoContrast": lambda: autocontrast_image(img),
        "Equalize": lambda: equalize_image(img),
        "Invert": lambda: invert_image(img),
    }[name]()


class AutoAugment(Transform):
    """torchvision.transforms.AutoAugment: one of 25 learned pairs of operations."""

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=0, fill=None):
        self.policy, self.interpolation, self.fill = policy, interpolation, fill

    def policies(self):
        table = AUTO_POLICIES[self.policy.value].strip().splitlines()
        return [[step.split() for step in line.split(",")] for line in table]

    def __call__(self, img):
        _, height, width = image_dimensions(img)
        space = strengths(10, height, width)
        for name, chance, number in python_numbers().choice(self.policies()):
            if python_numbers().random() <= float(chance):
                levels, signed = space.get(name, (None, False))
                strength = 0.0 if number == "-" or levels is None else float(levels[int(number)])
                sign = python_numbers().choice((-1.0, 1.0)) if signed else 1.0
                img = augment(img, name, sign * strength, self.interpolation, channel_fill(img, self.fill))
        return img


class RandAugment(Transform):
    """torchvision.transforms.RandAugment: num_ops random operations of one strength."""

    def __init__(self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=0, fill=None):
        self.num_ops, self.magnitude, self.num_magnitude_bins = num_ops, magnitude, num_magnitude_bins
        self.interpolation, self.fill = interpolation, fill

    def __call__(self, img):
        _, height, width = image_dimensions(img)
        space = {"Identity": (None, False), **strengths(self.num_magnitude_bins, height, width)}
        for _ in range(self.num_ops):
            name = python_numbers().choice(list(space))
            levels, signed = space[name]
            strength = 0.0 if levels is None else float(levels[self.magnitude])
            sign = python_numbers().choice((-1.0, 1.0)) if signed else 1.0
            img = augment(img, name, sign * strength, self.interpolation, channel_fill(img, self.fill))
        return img


class TrivialAugmentWide(Transform):
    """torchvision.transforms.TrivialAugmentWide: one random operation of random strength."""

    def __init__(self, num_magnitude_bins=31, interpolation=0, fill=None):
        self.num_magnitude_bins, self.interpolation, self.fill = num_magnitude_bins, interpolation, fill

    def __call__(self, img):
        _, height, width = image_dimensions(img)
        space = {"Identity": (None, False), **strengths(self.num_magnitude_bins, height, width, wide=True)}
        name = python_numbers().choice(list(space))
        levels, signed = space[name]
        strength = 0.0 if levels is None else float(python_numbers().choice(levels))
        sign = python_numbers().choice((-1.0, 1.0)) if signed else 1.0
        return augment(img, name, sign * strength, self.interpolation, channel_fill(img, self.fill))


class AugMix(Transform):
    """torchvision.transforms.AugMix: the image mixed with the ends of a few random chains of operations."""

    def __init__(
        self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True, interpolation=2, fill=None
    ):
        if not 1 <= severity <= 10:
            raise ValueError(f"The severity must be between [1, 10]. Got {severity} instead.")
        self.severity, self.mixture_width, self.chain_depth, self.alpha = severity, mixture_width, chain_depth, alpha
        self.all_ops, self.interpolation, self.fill = all_ops, interpolation, fill

    def space(self, height, width):
        found = strengths(10, height, width)
        found["TranslateX"], found["TranslateY"] = (
            (np.linspace(0.0, size / 3.0, 10), True) for size in (width, height)
        )
        found["Posterize"] = (found["Posterize"][0] - 4, False)
        colours = () if self.all_ops else ("Brightness", "Color", "Contrast", "Sharpness")
        return {name: entry for name, entry in found.items() if name not in colours}

    def chain(self, img, space, fill):
        for _ in range(self.chain_depth if self.chain_depth > 0 else python_numbers().randint(1, 3)):
            name = python_numbers().choice(list(space))
            levels, signed = space[name]
            strength = 0.0 if levels is None else float(levels[python_numbers().randrange(self.severity)])
            sign = python_numbers().choice((-1.0, 1.0)) if signed else 1.0
            img = augment(img, name, sign * strength, self.interpolation, fill)
        return img

    def __call__(self, img):
        picture, fill = np.asarray(img), channel_fill(img, self.fill)
        space = self.space(*image_dimensions(img)[1:])
        kept, mixed = host_numbers().dirichlet([self.alpha, self.alpha])
        weights = host_numbers().dirichlet([self.alpha] * self.mixture_width) * mixed
        mix = np.float32(kept) * picture
        for weight in weights:
            mix = mix + np.float32(weight) * np.asarray(self.chain(img, space, fill))
        mix = mix.astype(picture.dtype)
        return Image.fromarray(mix) if is_pil(img) else mix
