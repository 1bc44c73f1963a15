"""Images as PIL has them, or as arrays (…, channels, height, width): from one to the other."""

import enum

import mindspore as ms
import numpy as np
from PIL import Image


class InterpolationMode(enum.IntEnum):
    """torchvision.transforms.InterpolationMode, with PIL's numbers, which mindspore.dataset.vision.Inter shares."""

    NEAREST = 0
    LANCZOS = 1
    BILINEAR = 2
    BICUBIC = 3
    BOX = 4
    HAMMING = 5
    NEAREST_EXACT = 6


def is_pil(image):
    return isinstance(image, Image.Image)


def on_array(function, image, *arguments):
    """Apply a function of numpy arrays to an array or a Tensor."""
    if isinstance(image, ms.Tensor):
        return ms.Tensor(np.ascontiguousarray(function(image.asnumpy(), *arguments)))
    if not isinstance(image, np.ndarray):
        raise TypeError(f"expected a PIL image, an array or a Tensor, got {type(image).__name__}")
    return np.ascontiguousarray(function(image, *arguments))


def image_dimensions(image):
    """[channels, height, width]"""
    if is_pil(image):
        return [len(image.getbands()), image.height, image.width]
    return [1 if image.ndim == 2 else image.shape[-3], image.shape[-2], image.shape[-1]]


def image_size(image):
    """[width, height]"""
    return image_dimensions(image)[:0:-1]


def pil_to_tensor(image):
    """A PIL image as an array (channels, height, width) with its own numbers."""
    array = np.array(image, copy=True)
    return np.ascontiguousarray((array[:, :, None] if array.ndim == 2 else array).transpose(2, 0, 1))


def to_tensor(image):
    """torchvision's to_tensor: an array (channels, height, width); 8-bit images become float32 between 0 and 1."""
    if is_pil(image):
        array = pil_to_tensor(image)
        if image.mode == "1":
            return array.astype(np.float32)
        if image.mode in ("I", "F") or image.mode.startswith("I;16"):
            return array.astype({"I": np.int32, "F": np.float32}.get(image.mode, np.int16))
    elif isinstance(image, np.ndarray) and image.ndim in (2, 3):
        array = np.ascontiguousarray((image[:, :, None] if image.ndim == 2 else image).transpose(2, 0, 1))
    else:
        raise TypeError(
            f"to_tensor takes a PIL image or an array (height, width, channels), got {type(image).__name__}"
        )
    return array.astype(np.float32) / np.float32(255) if array.dtype == np.uint8 else array


def to_pil_image(image, mode=None):
    """torchvision's to_pil_image: from an array (height, width, channels) or a Tensor (channels, height, width)."""
    if is_pil(image):
        raise TypeError("to_pil_image takes an array or a Tensor, got a PIL image")
    if isinstance(image, ms.Tensor):
        image = image.asnumpy()
        image = image[None] if image.ndim == 2 else image
        image = image.transpose(1, 2, 0)
        channels_first = True
    else:
        channels_first = image.ndim == 3 and image.shape[2] > 4 >= image.shape[0]  # what ToTensor gave
        image = image.transpose(1, 2, 0) if channels_first else image[:, :, None] if image.ndim == 2 else image
    if channels_first and image.dtype.kind == "f" and mode != "F":
        image = (image * 255).astype(np.uint8)
    if image.shape[2] == 1:
        return Image.fromarray(image[:, :, 0]) if mode is None else Image.fromarray(image[:, :, 0]).convert(mode)
    picture = Image.fromarray(np.ascontiguousarray(image))
    return picture if mode in (None, picture.mode) else picture.convert(mode)


def convert_image_dtype(image, dtype=ms.float32):
    """torchvision's convert_image_dtype: the range goes with the type."""
    return on_array(_convert_range, image, numpy_dtype(dtype))


def numpy_dtype(dtype):
    """numpy's type for one of MindSpore's or numpy's own."""
    return np.dtype(dtype if isinstance(dtype, (type, str, np.dtype)) else ms.dtype_to_nptype(dtype))


def _convert_range(array, dtype):
    source, target = array.dtype, np.dtype(dtype)
    if source == target or (source.kind == "f" and target.kind == "f"):
        return array.astype(target)
    if source.kind == "f":
        return (array * np.float32(np.iinfo(target).max + 1.0 - 1e-3)).astype(target)
    if target.kind == "f":
        return array.astype(target) / target.type(np.iinfo(source).max)
    largest, wanted = int(np.iinfo(source).max), int(np.iinfo(target).max)
    if largest > wanted:
        return (array // ((largest + 1) // (wanted + 1))).astype(target)
    return array.astype(target) * target.type((wanted + 1) // (largest + 1))
