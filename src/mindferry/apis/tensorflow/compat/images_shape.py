"""tf.image: cutting, padding, turning and measuring images, channels last, one image or several."""

import numpy as np
from mindspore import ops

from .functions_shape import tf_pad
from .images import image_resize
from .images_types import convert_image_dtype, in_shares
from .random_values import Chance
from .tensors import as_tensor, dtype_name, is_float


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    x = as_tensor(image)
    x = ops.narrow(x, x.ndim - 3, int(offset_height), int(target_height))
    return ops.narrow(x, x.ndim - 2, int(offset_width), int(target_width))


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    x = as_tensor(image)
    height, width = x.shape[-3:-1]
    rows = (int(offset_height), int(target_height) - int(offset_height) - height)
    columns = (int(offset_width), int(target_width) - int(offset_width) - width)
    return tf_pad(x, (*((0, 0),) * (x.ndim - 3), rows, columns, (0, 0)))


def resize_with_crop_or_pad(image, target_height, target_width):
    """In the middle: what is too much is cut off, what is missing is zero."""
    x = as_tensor(image)
    height, width = x.shape[-3:-1]
    wanted_height, wanted_width = int(target_height), int(target_width)
    top, left = max((height - wanted_height) // 2, 0), max((width - wanted_width) // 2, 0)
    x = crop_to_bounding_box(x, top, left, min(height, wanted_height), min(width, wanted_width))
    above, before = max((wanted_height - height) // 2, 0), max((wanted_width - width) // 2, 0)
    return pad_to_bounding_box(x, above, before, wanted_height, wanted_width)


def central_crop(image, central_fraction):
    x = as_tensor(image)
    starts = [int((size - size * central_fraction) / 2) for size in x.shape[-3:-1]]
    sizes = [size - 2 * start for size, start in zip(x.shape[-3:-1], starts)]
    return crop_to_bounding_box(x, *starts, *sizes)


def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False):
    x = as_tensor(image)
    height, width = x.shape[-3:-1]
    ratio = max(height / target_height, width / target_width)
    rows, columns = int(np.floor(height / ratio)), int(np.floor(width / ratio))
    top, left = max(0, int((target_height - height / ratio) / 2)), max(0, int((target_width - width / ratio) / 2))
    return pad_to_bounding_box(image_resize(x, (rows, columns), method), top, left, target_height, target_width)


def rot90(image, k=1, name=None):
    x = as_tensor(image)
    rows, columns = x.ndim - 3, x.ndim - 2
    for _ in range(int(k) % 4):
        x = ops.flip(ops.swapaxes(x, rows, columns), (rows,))
    return x


def transpose_image(image, name=None):
    x = as_tensor(image)
    return ops.swapaxes(x, x.ndim - 3, x.ndim - 2)


def grayscale_to_rgb(images, name=None):
    x = as_tensor(images)
    return ops.tile(x, (*(1,) * (x.ndim - 1), 3))


@in_shares
def adjust_brightness(image, delta):
    return image + delta


@in_shares
def adjust_gamma(image, gamma=1, gain=1):
    return gain * ops.pow(image, gamma)


def rgb_to_hsv(images, name=None):
    x = as_tensor(images)
    red, green, blue = (x[..., place] for place in range(3))
    most, least = ops.amax(x, -1), ops.amin(x, -1)
    spread = most - least
    divisor = ops.where(spread == 0, ops.ones_like(spread), spread)
    hue = ops.where(
        most == red,
        (green - blue) / divisor,
        ops.where(most == green, 2 + (blue - red) / divisor, 4 + (red - green) / divisor),
    )
    hue = ops.where(hue < 0, hue + 6, hue) / 6
    share = ops.where(most > 0, spread / ops.where(most > 0, most, ops.ones_like(most)), ops.zeros_like(most))
    return ops.stack([ops.where(spread == 0, ops.zeros_like(hue), hue), share, most], -1)


def hsv_to_rgb(images, name=None):
    x = as_tensor(images)
    hue, share, value = (x[..., place] for place in range(3))
    whole = 6 * hue
    parts = (ops.abs(whole - 3) - 1, 2 - ops.abs(whole - 2), 2 - ops.abs(whole - 4))
    return ops.stack([value * (1 + share * (ops.clamp(each, 0.0, 1.0) - 1)) for each in parts], -1)


@in_shares
def adjust_saturation(image, saturation_factor, name=None):
    hsv = rgb_to_hsv(image)
    share = ops.clamp(hsv[..., 1] * saturation_factor, 0.0, 1.0)
    return hsv_to_rgb(ops.stack([hsv[..., 0], share, hsv[..., 2]], -1))


@in_shares
def adjust_hue(image, delta, name=None):
    hsv = rgb_to_hsv(image)
    turned = hsv[..., 0] + delta
    return hsv_to_rgb(ops.stack([turned - ops.floor(turned), hsv[..., 1], hsv[..., 2]], -1))


def random_saturation(image, lower, upper, seed=None):
    return adjust_saturation(image, float(Chance.generator.uniform(lower, upper)))


def random_hue(image, max_delta, seed=None):
    return adjust_hue(image, float(Chance.generator.uniform(-max_delta, max_delta)))


def total_variation(images, name=None):
    x = as_tensor(images)
    down = ops.abs(x[..., 1:, :, :] - x[..., :-1, :, :])
    across = ops.abs(x[..., :, 1:, :] - x[..., :, :-1, :])
    return ops.sum(down, (-3, -2, -1)) + ops.sum(across, (-3, -2, -1))


def psnr(a, b, max_val, name=None):
    a, b = as_tensor(a), as_tensor(b)
    if not is_float(a):
        max_val = max_val / np.iinfo(dtype_name(a.dtype)).max
        a, b = convert_image_dtype(a, "float32"), convert_image_dtype(b, "float32")
    error = ops.mean(ops.square(a - b), (-3, -2, -1))
    return (20 * np.log(max_val) - 10 * ops.log(error)) / float(np.log(10))


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """What lies under a window, one after the other, in the place of the channels."""
    x = as_tensor(images)
    (_, rows, columns, _), (_, down, across, _), (_, first, second, _) = sizes, strides, rates
    if padding.upper() == "SAME":
        spans = ((rows - 1) * first + 1, (columns - 1) * second + 1)
        totals = [
            max((-(-size // step) - 1) * step + span - size, 0)
            for size, step, span in zip(x.shape[1:3], (down, across), spans)
        ]
        x = tf_pad(x, ((0, 0), *((each // 2, each - each // 2) for each in totals), (0, 0)))
    height = (x.shape[1] - (rows - 1) * first - 1) // down + 1
    width = (x.shape[2] - (columns - 1) * second - 1) // across + 1
    parts = []
    for i in range(rows):
        for j in range(columns):
            part = ops.gather(x, as_tensor((np.arange(height) * down + i * first).astype(np.int32)), 1)
            parts.append(ops.gather(part, as_tensor((np.arange(width) * across + j * second).astype(np.int32)), 2))
    return ops.cat(parts, -1)


def ops_extract_patches(images, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """keras.ops.image.extract_patches."""
    sizes, rates = ((each, each) if isinstance(each, int) else tuple(each) for each in (size, dilation_rate))
    steps = sizes if strides is None else (strides, strides) if isinstance(strides, int) else tuple(strides)
    images = as_tensor(images)
    x = images if images.ndim == 4 else ops.expand_dims(images, 0)
    made = extract_patches(x, (1, *sizes, 1), (1, *steps, 1), (1, *rates, 1), padding)
    return made if images.ndim == 4 else ops.squeeze(made, 0)
