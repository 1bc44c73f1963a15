"""Transforms without randomness, for PIL images and for arrays (…, channels, height, width)."""

from .parts import PRINTS_DATASETS
from .vision_geometry import (
    center_crop_image,
    five_crop_image,
    normalize_image,
    pad_image,
    resize_image,
    resized_size,
    ten_crop_image,
)
from .vision_images import convert_image_dtype, pil_to_tensor, to_pil_image, to_tensor


class Transform:
    """Prints as torchvision's do, and is called like a function."""

    if PRINTS_DATASETS:

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{key}={value}' for key, value in vars(self).items())})"


class ToTensor(Transform):
    """torchvision.transforms.ToTensor. The result is a numpy array: the loader makes Tensors of whole batches."""

    def __call__(self, pic):
        return to_tensor(pic)


class PILToTensor(Transform):
    def __call__(self, pic):
        return pil_to_tensor(pic)


class ToPILImage(Transform):
    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return to_pil_image(pic, self.mode)


class ConvertImageDtype(Transform):
    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, image):
        return convert_image_dtype(image, self.dtype)


class Normalize(Transform):
    """torchvision.transforms.Normalize: the channel is the third axis from the end."""

    def __init__(self, mean, std, inplace=False):
        self.mean, self.std, self.inplace = mean, std, inplace

    def __call__(self, tensor):
        return normalize_image(tensor, self.mean, self.std)


class PILResize(Transform):
    """torchvision.transforms.Resize of PIL images. (For one image size in 2,000, mindspore.dataset.vision.Resize differs.)"""

    def __init__(self, size, interpolation=2, max_size=None, antialias=True):
        self.size, self.interpolation, self.max_size = size, interpolation, max_size

    def __call__(self, img):
        height, width = resized_size(img.height, img.width, self.size, self.max_size)
        return img if (width, height) == img.size else img.resize((width, height), int(self.interpolation) % 6)


class Resize(Transform):
    """torchvision.transforms.Resize. (The long side that mindspore.dataset.vision computes is sometimes a pixel shorter.)"""

    def __init__(self, size, interpolation=2, max_size=None, antialias=True):
        self.size, self.interpolation, self.max_size, self.antialias = size, interpolation, max_size, antialias

    def __call__(self, img):
        return resize_image(img, self.size, self.interpolation, self.max_size, self.antialias)


class CenterCrop(Transform):
    def __init__(self, size):
        self.size = size

    def __call__(self, img):
        return center_crop_image(img, self.size)


class ImagePad(Transform):
    def __init__(self, padding, fill=0, padding_mode="constant"):
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def __call__(self, img):
        return pad_image(img, self.padding, self.fill, self.padding_mode)


class FiveCrop(Transform):
    def __init__(self, size):
        self.size = size

    def __call__(self, img):
        return five_crop_image(img, self.size)


class TenCrop(Transform):
    def __init__(self, size, vertical_flip=False):
        self.size, self.vertical_flip = size, vertical_flip

    def __call__(self, img):
        return ten_crop_image(img, self.size, self.vertical_flip)
