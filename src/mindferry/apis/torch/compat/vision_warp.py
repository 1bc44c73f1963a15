"""Rotations, affine and perspective maps, on PIL images and on arrays (…, height, width)."""

import math

import numpy as np
from PIL import Image

from .vision_geometry import fill_colour
from .vision_images import image_dimensions, is_pil, on_array


def inverse_affine_matrix(center, angle, translate, scale, shear):
    """Where a pixel of the result comes from: rotation, then shear and scale, about the centre, then translation."""
    rotation, shear_x, shear_y = (math.radians(each) for each in (angle, shear[0], shear[1]))
    a = math.cos(rotation - shear_y) / math.cos(shear_y)
    b = -math.cos(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(rotation)
    c = math.sin(rotation - shear_y) / math.cos(shear_y)
    d = -math.sin(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(rotation)
    matrix = [each / scale for each in (d, -b, 0.0, -c, a, 0.0)]
    x, y = -center[0] - translate[0], -center[1] - translate[1]
    matrix[2] += matrix[0] * x + matrix[1] * y + center[0]
    matrix[5] += matrix[3] * x + matrix[4] * y + center[1]
    return matrix


def affine_image(img, angle, translate, scale, shear, interpolation=0, fill=None, center=None):
    shear = [shear, 0.0] if isinstance(shear, (int, float)) else list(shear) * (3 - len(shear))
    _, height, width = image_dimensions(img)
    if is_pil(img):
        middle = [width * 0.5, height * 0.5] if center is None else center
        matrix = inverse_affine_matrix(middle, angle, translate, scale, shear)
        return img.transform(
            img.size, Image.Transform.AFFINE, matrix, int(interpolation), fillcolor=fill_colour(img, fill)
        )
    middle = [0.0, 0.0] if center is None else [center[0] - width * 0.5, center[1] - height * 0.5]
    matrix = inverse_affine_matrix(middle, angle, translate, scale, shear)
    return on_array(_affine_array, img, matrix, (height, width), int(interpolation), fill)


def rotate_image(img, angle, interpolation=0, expand=False, center=None, fill=None):
    """Counter-clockwise, in degrees."""
    if is_pil(img):
        return img.rotate(angle, int(interpolation), expand, center, fillcolor=fill_colour(img, fill))
    _, height, width = image_dimensions(img)
    middle = [0.0, 0.0] if center is None else [center[0] - width * 0.5, center[1] - height * 0.5]
    matrix = inverse_affine_matrix(middle, -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    size = _rotated_size(matrix, height, width) if expand else (height, width)
    return on_array(_affine_array, img, matrix, size, int(interpolation), fill)


def _rotated_size(matrix, height, width):
    corners = np.array([[x * width, y * height, 1.0] for x in (-0.5, 0.5) for y in (-0.5, 0.5)], dtype=np.float32)
    moved = corners @ np.array(matrix, dtype=np.float32).reshape(2, 3).T + np.array(
        [width * 0.5, height * 0.5], dtype=np.float32
    )
    size = np.ceil(np.trunc(moved.max(0) / 1e-4) * 1e-4) - np.floor(np.trunc(moved.min(0) / 1e-4) * 1e-4)
    return int(size[1]), int(size[0])


def _affine_array(array, matrix, size, interpolation, fill):
    """Coordinates are measured from the centre of the image."""
    height, width = array.shape[-2:]
    y, x = np.meshgrid(
        np.arange(size[0]) - size[0] * 0.5 + 0.5, np.arange(size[1]) - size[1] * 0.5 + 0.5, indexing="ij"
    )
    source_x = matrix[0] * x + matrix[1] * y + matrix[2] + width * 0.5 - 0.5
    source_y = matrix[3] * x + matrix[4] * y + matrix[5] + height * 0.5 - 0.5
    return sample_array(array, source_x, source_y, interpolation, fill)


def sample_array(array, x, y, interpolation, fill=None):
    """The values at (x, y) in pixels; outside of the image, the fill (0 if there is none)."""
    if interpolation == 0:
        corners = [(np.rint(x), np.rint(y), np.ones_like(x))]
    else:
        left, top = np.floor(x), np.floor(y)
        right, bottom = x - left, y - top
        corners = [
            (left, top, (1 - right) * (1 - bottom)),
            (left + 1, top, right * (1 - bottom)),
            (left, top + 1, (1 - right) * bottom),
            (left + 1, top + 1, right * bottom),
        ]
    height, width = array.shape[-2:]
    result, covered = np.zeros((*array.shape[:-2], *x.shape)), np.zeros(x.shape)
    for column, row, weight in corners:
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        weight = weight * inside
        column, row = (np.clip(each, 0, last).astype(int) for each, last in ((column, width - 1), (row, height - 1)))
        result += array[..., row, column] * weight
        covered += weight
    if fill is not None:
        # torchvision weighs the edge pixels twice when it blends them with the fill
        result = result * covered + (1 - covered) * np.asarray(fill, dtype=np.float64).reshape(-1, 1, 1)
    return result.astype(array.dtype) if array.dtype.kind == "f" else np.rint(result).astype(array.dtype)


def perspective_coefficients(startpoints, endpoints):
    rows = []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    solution = np.linalg.lstsq(
        np.array(rows, dtype=np.float64), np.array(startpoints, dtype=np.float64).reshape(8), rcond=None
    )[0]
    return solution.astype(np.float32).tolist()


def perspective_image(img, startpoints, endpoints, interpolation=2, fill=None):
    coefficients = perspective_coefficients(startpoints, endpoints)
    if is_pil(img):
        kind = Image.Transform.PERSPECTIVE
        return img.transform(img.size, kind, coefficients, int(interpolation), fillcolor=fill_colour(img, fill))
    return on_array(_perspective_array, img, coefficients, int(interpolation), fill)


def _perspective_array(array, coefficients, interpolation, fill):
    a, b, c, d, e, f, g, h = coefficients
    y, x = np.meshgrid(np.arange(array.shape[-2]) + 0.5, np.arange(array.shape[-1]) + 0.5, indexing="ij")
    depth = g * x + h * y + 1.0
    return sample_array(
        array, (a * x + b * y + c) / depth - 0.5, (d * x + e * y + f) / depth - 0.5, interpolation, fill
    )


def elastic_image(img, displacement, interpolation=2, fill=None):
    """Displacement has shape (1, height, width, 2), in half image sizes."""
    if is_pil(img):
        array = np.asarray(img)
        channels = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
        moved = _elastic_array(channels, displacement, int(interpolation), fill)
        return Image.fromarray(np.ascontiguousarray(moved[0] if array.ndim == 2 else moved.transpose(1, 2, 0)))
    return on_array(_elastic_array, img, displacement, int(interpolation), fill)


def _elastic_array(array, displacement, interpolation, fill):
    shift = np.asarray(displacement.asnumpy() if hasattr(displacement, "asnumpy") else displacement)[0]
    height, width = array.shape[-2:]
    y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    return sample_array(array, x + shift[..., 0] * width / 2, y + shift[..., 1] * height / 2, interpolation, fill)
