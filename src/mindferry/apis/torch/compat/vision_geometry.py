"""Sizes and places: resize, crop, pad, flip, on PIL images and on arrays (…, height, width)."""

import numpy as np
from PIL import Image, ImageOps

from .vision_images import image_dimensions, is_pil, on_array


def resize_image(image, size, interpolation=2, max_size=None, antialias=True):
    """torchvision's resize: an int is the length of the shorter side."""
    _, height, width = image_dimensions(image)
    new_height, new_width = resized_size(height, width, size, max_size)
    if (new_height, new_width) == (height, width):
        return image
    if is_pil(image):
        return image.resize((new_width, new_height), int(interpolation) % 6)
    return on_array(resize_array, image, (new_height, new_width), int(interpolation), antialias)


def resize_image_v2(image, size, interpolation=2, max_size=None, antialias=True):
    """The same of torchvision's second version, which rounds bytes after each direction."""
    is_rounded = (
        antialias and int(interpolation) in (2, 3) and not is_pil(image) and "uint8" in str(image.dtype).lower()
    )
    if not is_rounded:
        return resize_image(image, size, interpolation, max_size, antialias)
    _, height, width = image_dimensions(image)
    new_size = resized_size(height, width, size, max_size)
    return image if new_size == (height, width) else on_array(resize_bytes, image, new_size, int(interpolation))


def resize_bytes(array, size, interpolation):
    for axis in (-1, -2):  # a direction that keeps its length is not touched
        old, new = array.shape[axis], size[axis]
        if old != new:
            array = mix_bytes(array, pixel_weights(old, new, interpolation, True), axis)
    return array


def mix_bytes(array, weights, axis):
    """As torch does: with weights in as many bits as 16 hold."""
    bits = next(each for each in range(22) if int(0.5 + np.abs(weights).max() * (1 << (each + 1))) >= 1 << 15)
    whole = np.where(weights < 0, np.ceil(weights * 2**bits - 0.5), np.floor(weights * 2**bits + 0.5)).astype(np.int64)
    made = np.moveaxis(np.tensordot(whole, array.astype(np.int64), (1, axis)), 0, axis)
    return np.clip((made + (1 << (bits - 1))) >> bits, 0, 255).astype(array.dtype)


def resized_size(height, width, size, max_size=None):
    if isinstance(size, (tuple, list)) and len(size) == 2:
        return int(size[0]), int(size[1])
    short, long = min(height, width), max(height, width)
    new_short = size[0] if isinstance(size, (tuple, list)) else size
    if max_size is not None and size is None:
        new_short = int(max_size * short / long)
    new_long = int(new_short * long / short)
    if max_size is not None and (size is None or new_long > max_size):
        new_short, new_long = new_short if size is None else int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def resize_array(array, size, interpolation, antialias):
    rows = pixel_weights(array.shape[-2], size[0], interpolation, antialias)
    columns = pixel_weights(array.shape[-1], size[1], interpolation, antialias)
    if array.dtype.kind == "f":
        return (rows @ array.astype(np.float64) @ columns.T).astype(array.dtype)
    limits = np.iinfo(array.dtype)
    return np.clip(np.rint(rows @ array.astype(np.float64) @ columns.T), limits.min, limits.max).astype(array.dtype)


def pixel_weights(old, new, interpolation, antialias):
    """How much of each old pixel is in each new one."""
    scale = old / new
    if interpolation in (0, 6):  # nearest, nearest-exact
        chosen = np.floor((np.arange(new) + (0.5 if interpolation == 6 else 0.0)) * scale).astype(int)
        return np.eye(old)[np.minimum(chosen, old - 1)]
    centres = (np.arange(new) + 0.5) * scale
    stretch = max(scale, 1.0) if antialias else 1.0
    pixels = np.arange(old) + 0.5
    if antialias or interpolation == 2:
        distance = (
            np.abs(
                pixels[None, :] - np.clip(centres, *((0.5, old - 0.5) if not antialias else (-np.inf, np.inf)))[:, None]
            )
            / stretch
        )
        weights = np.maximum(0.0, 1.0 - distance) if interpolation == 2 else cubic_kernel(distance, -0.5)
        return weights / weights.sum(1, keepdims=True)
    weights = np.zeros((new, old))
    first = np.floor(centres - 0.5).astype(int)
    for offset in range(-1, 3):  # beyond the border, the border pixel counts again
        weight = cubic_kernel(np.abs(first + offset + 0.5 - centres), -0.75)
        np.add.at(weights, (np.arange(new), np.clip(first + offset, 0, old - 1)), weight)
    return weights


def cubic_kernel(x, a):
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    return np.where(x < 1, near, np.where(x < 2, a * (x**3 - 5 * x**2 + 8 * x - 4), 0.0))


def crop_image(image, top, left, height, width):
    """A part of the image; what lies outside is 0."""
    if is_pil(image):
        return image.crop((left, top, left + width, top + height))
    return on_array(_crop_array, image, top, left, height, width)


def _crop_array(array, top, left, height, width):
    rows, columns = array.shape[-2:]
    before = (max(-top, 0), max(-left, 0))
    after = (max(top + height - rows, 0), max(left + width - columns, 0))
    padded = np.pad(array, [(0, 0)] * (array.ndim - 2) + [(before[0], after[0]), (before[1], after[1])])
    return padded[..., top + before[0] : top + before[0] + height, left + before[1] : left + before[1] + width]


def center_crop_image(image, output_size):
    height, width = pair(output_size)
    _, rows, columns = image_dimensions(image)
    if width > columns or height > rows:
        missing = (max(width - columns, 0), max(height - rows, 0))
        image = pad_image(image, [missing[0] // 2, missing[1] // 2, (missing[0] + 1) // 2, (missing[1] + 1) // 2])
        _, rows, columns = image_dimensions(image)
        if (height, width) == (rows, columns):
            return image
    return crop_image(image, round((rows - height) / 2.0), round((columns - width) / 2.0), height, width)


def pair(size):
    """An int or a sequence of one is both; otherwise (height, width)."""
    if isinstance(size, (tuple, list)):
        return (size[0], size[0]) if len(size) == 1 else (size[0], size[1])
    return int(size), int(size)


def pad_image(image, padding, fill=0, padding_mode="constant"):
    """Padding is one number, (left and right, top and bottom), or (left, top, right, bottom)."""
    padding = [padding] if isinstance(padding, int) else list(padding)
    left, top, right, bottom = {1: padding * 4, 2: padding * 2, 4: padding}[len(padding)]
    if not is_pil(image):
        return on_array(_pad_array, image, (left, top, right, bottom), fill, padding_mode)
    if padding_mode == "constant":
        padded = ImageOps.expand(image, (left, top, right, bottom), fill_colour(image, fill))
    else:
        edges = [(top, bottom), (left, right)] + [(0, 0)] * (np.asarray(image).ndim - 2)
        padded = Image.fromarray(np.pad(np.asarray(image), edges, mode=padding_mode))
    if image.mode == "P":
        padded.putpalette(image.getpalette())
    return padded


def _pad_array(array, sides, fill, padding_mode):
    left, top, right, bottom = sides
    edges = [(0, 0)] * (array.ndim - 2) + [(top, bottom), (left, right)]
    if padding_mode == "constant":
        return np.pad(array, edges, constant_values=fill or 0)
    return np.pad(array, edges, mode=padding_mode)


def fill_colour(image, fill):
    """One number for each band of a PIL image."""
    bands = len(image.getbands())
    fill = 0 if fill is None else fill
    if isinstance(fill, (list, tuple)):
        fill = tuple(fill) * bands if len(fill) == 1 else tuple(fill)
        return fill if image.mode == "F" else tuple(int(each) for each in fill)
    fill = fill if image.mode == "F" else int(fill)
    return (fill,) * bands if bands > 1 else fill


def hflip_image(image):
    if is_pil(image):
        return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return on_array(lambda array: array[..., ::-1], image)


def vflip_image(image):
    if is_pil(image):
        return image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    return on_array(lambda array: array[..., ::-1, :], image)


def resized_crop_image(image, top, left, height, width, size, interpolation=2, antialias=True):
    return resize_image(crop_image(image, top, left, height, width), size, interpolation, antialias=antialias)


def five_crop_image(image, size):
    """The four corners and the centre."""
    height, width = pair(size)
    _, rows, columns = image_dimensions(image)
    if width > columns or height > rows:
        raise ValueError(f"Requested crop size {size} is bigger than input size {(rows, columns)}")
    corners = [(0, 0), (0, columns - width), (rows - height, 0), (rows - height, columns - width)]
    return (
        *(crop_image(image, top, left, height, width) for top, left in corners),
        center_crop_image(image, (height, width)),
    )


def ten_crop_image(image, size, vertical_flip=False):
    flipped = vflip_image(image) if vertical_flip else hflip_image(image)
    return five_crop_image(image, size) + five_crop_image(flipped, size)


def normalize_image(image, mean, std, inplace=False):
    return on_array(_normalize, image, mean, std)


def _normalize(array, mean, std):
    mean, std = (np.asarray(each, dtype=array.dtype).reshape(-1, 1, 1) for each in (mean, std))
    return (array - mean) / std


def erase_image(image, i, j, h, w, v, inplace=False):
    return on_array(_erase, image, i, j, h, w, v)


def _erase(array, i, j, h, w, v):
    array = array.copy()
    array[..., i : i + h, j : j + w] = v.asnumpy() if hasattr(v, "asnumpy") else v
    return array
