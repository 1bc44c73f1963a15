"""Colours: brightness, contrast, saturation, hue and the like, on PIL images and on arrays (…, channels, height, width)."""

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from .vision_images import is_pil, on_array


def adjust_brightness(img, brightness_factor):
    if is_pil(img):
        return ImageEnhance.Brightness(img).enhance(brightness_factor)
    return on_array(lambda array: blend(array, np.zeros_like(array), brightness_factor), img)


def adjust_contrast(img, contrast_factor):
    if is_pil(img):
        return ImageEnhance.Contrast(img).enhance(contrast_factor)

    def contrast(array):
        grey = array if array.shape[-3] == 1 else grey_array(array)
        return blend(array, grey.astype(np.float32).mean((-3, -2, -1), keepdims=True), contrast_factor)

    return on_array(contrast, img)


def adjust_saturation(img, saturation_factor):
    if is_pil(img):
        return ImageEnhance.Color(img).enhance(saturation_factor)
    return on_array(
        lambda array: array if array.shape[-3] == 1 else blend(array, grey_array(array), saturation_factor), img
    )


def adjust_hue(img, hue_factor):
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if not is_pil(img):
        return on_array(hue_array, img, hue_factor)
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    shifted = (np.array(hue, dtype=np.int32) + int(hue_factor * 255)) % 256
    return Image.merge("HSV", (Image.fromarray(shifted.astype(np.uint8)), saturation, value)).convert(img.mode)


def adjust_gamma(img, gamma, gain=1):
    if is_pil(img):
        curve = [int((255 + 1 - 1e-3) * gain * pow(level / 255.0, gamma)) for level in range(256)] * 3
        return img.convert("RGB").point(curve).convert(img.mode)

    def bend(array):
        unit = array if array.dtype.kind == "f" else array.astype(np.float32) / 255
        bent = np.clip(gain * unit**gamma, 0, 1).astype(unit.dtype)
        return bent if array.dtype.kind == "f" else (bent * np.float32(255 + 1.0 - 1e-3)).astype(array.dtype)

    return on_array(bend, img)


def adjust_sharpness(img, sharpness_factor):
    if is_pil(img):
        return ImageEnhance.Sharpness(img).enhance(sharpness_factor)

    def sharpen(array):
        if min(array.shape[-2:]) <= 2:
            return array
        smooth = array.astype(np.float32)
        height, width = array.shape[-2:]
        inner = sum(smooth[..., i : height - 2 + i, j : width - 2 + j] for i in range(3) for j in range(3))
        inner = (inner + 4 * smooth[..., 1:-1, 1:-1]) / 13
        smooth[..., 1:-1, 1:-1] = inner if array.dtype.kind == "f" else np.rint(inner)
        return blend(array, smooth, sharpness_factor)

    return on_array(sharpen, img)


def blend(array, other, ratio):
    bound = 1.0 if array.dtype.kind == "f" else np.iinfo(array.dtype).max
    mixed = np.float32(ratio) * array.astype(np.float32) + np.float32(1.0 - ratio) * other
    return np.clip(mixed, 0, bound).astype(array.dtype)


def grey_array(array):
    red, green, blue = (array[..., channel : channel + 1, :, :].astype(np.float32) for channel in range(3))
    return (0.2989 * red + 0.587 * green + 0.114 * blue).astype(array.dtype)


def grayscale_image(img, num_output_channels=1):
    """torchvision's to_grayscale and rgb_to_grayscale."""
    if is_pil(img):
        grey = img.convert("L")
        return grey if num_output_channels == 1 else Image.merge("RGB", (grey, grey, grey))
    return on_array(
        lambda array: np.repeat(array if array.shape[-3] == 1 else grey_array(array), num_output_channels, axis=-3), img
    )


def hue_array(array, hue_factor):
    if array.shape[-3] == 1:
        return array
    unit = array.astype(np.float32) / (1 if array.dtype.kind == "f" else 255)
    red, green, blue = (unit[..., channel, :, :] for channel in range(3))
    largest, smallest = unit.max(-3), unit.min(-3)
    spread = largest - smallest
    flat = spread == 0
    saturation = spread / np.where(flat, 1, largest)
    rest = [(largest - channel) / np.where(flat, 1, spread) for channel in (red, green, blue)]
    is_red, is_green = largest == red, (largest == green) & (largest != red)
    turn = np.where(is_red, rest[2] - rest[1], np.where(is_green, 2 + rest[0] - rest[2], 4 + rest[1] - rest[0]))
    turn = (np.fmod(turn / 6 + 1, 1) + hue_factor) % 1.0
    sector = np.floor(turn * 6).astype(int)
    part = turn * 6 - sector
    dark = np.clip(largest * (1 - saturation), 0, 1)
    falling = np.clip(largest * (1 - saturation * part), 0, 1)
    rising = np.clip(largest * (1 - saturation * (1 - part)), 0, 1)
    options = [
        (largest, rising, dark),
        (falling, largest, dark),
        (dark, largest, rising),
        (dark, falling, largest),
        (rising, dark, largest),
        (largest, dark, falling),
    ]
    turned = np.stack([np.choose(sector % 6, [option[channel] for option in options]) for channel in range(3)], -3)
    return (
        turned.astype(array.dtype)
        if array.dtype.kind == "f"
        else (turned * np.float32(255 + 1.0 - 1e-3)).astype(array.dtype)
    )


def invert_image(img):
    if is_pil(img):
        return ImageOps.invert(img)
    return on_array(
        lambda array: (1 if array.dtype.kind == "f" else array.dtype.type(np.iinfo(array.dtype).max)) - array, img
    )


def posterize_image(img, bits):
    if is_pil(img):
        return ImageOps.posterize(img, bits)
    return on_array(lambda array: array & array.dtype.type(256 - 2 ** (8 - bits)), img)


def solarize_image(img, threshold):
    if is_pil(img):
        return ImageOps.solarize(img, threshold)
    return on_array(lambda array: np.where(array >= threshold, invert_image(array), array), img)


def autocontrast_image(img):
    if is_pil(img):
        return ImageOps.autocontrast(img)

    def stretch(array):
        bound = 1.0 if array.dtype.kind == "f" else 255.0
        values = array.astype(np.float32)
        least, most = values.min((-2, -1), keepdims=True), values.max((-2, -1), keepdims=True)
        flat = most == least
        scale = np.where(flat, 1, bound / np.where(flat, 1, most - least))
        return np.clip((values - np.where(flat, 0, least)) * scale, 0, bound).astype(array.dtype)

    return on_array(stretch, img)


def equalize_image(img):
    if is_pil(img):
        return ImageOps.equalize(img)

    def equalize(array):
        if array.ndim > 2:
            return np.stack([equalize(each) for each in array])
        counts = np.bincount(array.reshape(-1), minlength=256)
        step = counts[counts != 0][:-1].sum() // 255
        if step == 0:
            return array
        table = np.clip(np.concatenate([[0], ((np.cumsum(counts) + step // 2) // step)[:-1]]), 0, 255)
        return table[array].astype(np.uint8)

    return on_array(equalize, img)


def gaussian_blur_image(img, kernel_size, sigma=None):
    """torchvision's gaussian_blur: PIL images too are blurred as arrays."""
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in sizes]
    sigmas = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else list(sigma) * (3 - len(sigma))
    if is_pil(img):
        array = np.asarray(img)
        channels = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
        blurred = blur_array(channels, sizes, sigmas)
        return Image.fromarray(np.ascontiguousarray(blurred[0] if array.ndim == 2 else blurred.transpose(1, 2, 0)))
    return on_array(blur_array, img, sizes, sigmas)


def blur_array(array, sizes, sigmas):
    dtype = array.dtype if array.dtype.kind == "f" else np.dtype(np.float32)
    values = array.astype(dtype)
    for axis, size, sigma in ((-1, sizes[0], sigmas[0]), (-2, sizes[1], sigmas[1])):
        offsets = np.arange(size) - (size - 1) * 0.5
        kernel = np.exp(-0.5 * (offsets / sigma) ** 2)
        edges = [(0, 0)] * values.ndim
        edges[axis] = (size // 2, size // 2)
        padded, length = np.pad(values, edges, mode="reflect"), values.shape[axis]
        rows = [np.take(padded, np.arange(start, start + length), axis=axis) for start in range(size)]
        values = sum(row * dtype.type(weight) for row, weight in zip(rows, kernel / kernel.sum()))
    return values if array.dtype.kind == "f" else np.rint(values).astype(array.dtype)
