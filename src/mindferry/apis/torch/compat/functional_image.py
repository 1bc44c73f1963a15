"""Resizing, sampling and shuffling of images, with torch's arguments."""

import math

import numpy as np
from mindspore import ops

from .functional_conv import per_axis
from .functional_pool import along_axis


def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """torch.nn.functional.interpolate: one matrix for each axis."""
    rank = input.ndim - 2
    factors = [None] * rank if scale_factor is None else list(per_axis(scale_factor, rank))
    sizes_ = (
        list(per_axis(size, rank))
        if size is not None
        else [math.floor(n * f) for n, f in zip(input.shape[2:], factors)]
    )
    if recompute_scale_factor:
        factors = [None] * rank
    for place in range(rank):
        have, want, axis = input.shape[place + 2], int(sizes_[place]), place + 2
        if mode == "area":
            edges = [(i * have // want, -(-(i + 1) * have // want)) for i in range(want)]
            matrix = np.array(
                [[(start <= column < end) / (end - start) for column in range(have)] for start, end in edges],
                np.float32,
            )
        else:
            matrix = resize_matrix(have, want, factors[place], mode, bool(align_corners), antialias)
        input = along_axis(input, axis, matrix)
    return input


def resize_matrix(have, want, factor, mode, align_corners, antialias):
    """What each output place takes from each input place."""
    ratio = 1 / factor if factor else have / want
    if mode == "nearest":
        places = np.minimum(np.floor(np.arange(want) * np.float32(ratio)), have - 1)
        return np.eye(have, dtype=np.float32)[places.astype(int)]
    if mode == "nearest-exact":
        places = np.minimum(np.floor((np.arange(want) + 0.5) * np.float32(ratio)), have - 1)
        return np.eye(have, dtype=np.float32)[places.astype(int)]
    is_cubic = mode == "bicubic"
    if antialias:
        return _smooth_matrix(have, want, (have - 1) / max(want - 1, 1) if align_corners else ratio, is_cubic)
    if align_corners:
        centers = np.arange(want) * ((have - 1) / (want - 1) if want > 1 else 0.0)
    else:
        centers = (np.arange(want) + 0.5) * ratio - 0.5
        centers = centers if is_cubic else np.maximum(centers, 0)
    matrix, base = np.zeros((want, have), np.float32), np.floor(centers).astype(int)
    for shift in range(-1, 3) if is_cubic else range(2):
        gap = np.abs(centers - base - shift)
        weight = _cubic_weight(gap, -0.75) if is_cubic else 1 - gap
        np.add.at(matrix, (np.arange(want), np.clip(base + shift, 0, have - 1)), weight)
    return matrix


def _cubic_weight(gap, a):
    near = ((a + 2) * gap - (a + 3)) * gap * gap + 1
    far = ((gap - 5) * gap + 8) * gap * a - 4 * a
    return np.where(gap <= 1, near, np.where(gap < 2, far, 0))


def _smooth_matrix(have, want, ratio, is_cubic):
    scale, half = max(ratio, 1.0), 2.0 if is_cubic else 1.0
    centers = (np.arange(want) + 0.5) * ratio
    gap = np.abs(np.arange(have)[None] + 0.5 - centers[:, None]) / scale
    weight = _cubic_weight(gap, -0.5) if is_cubic else np.maximum(1 - gap, 0)
    weight = np.where(gap < half, weight, 0)
    return (weight / weight.sum(1, keepdims=True)).astype(np.float32)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """torch.nn.functional.upsample."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(input, size=None, scale_factor=None):
    """torch.nn.functional.upsample_bilinear: corners are aligned."""
    return interpolate(input, size, scale_factor, "bilinear", True)


def upsample_nearest(input, size=None, scale_factor=None):
    """torch.nn.functional.upsample_nearest."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear2d_aa(
    input, output_size=None, align_corners=False, scale_factors=None, scales_h=None, scales_w=None
):
    """torch.ops.aten._upsample_bilinear2d_aa; scales given beside a size say how far apart the samples are."""
    scales = (scales_h, scales_w) if scale_factors is None and (scales_h or scales_w) else scale_factors
    return interpolate(input, output_size, scales, "bilinear", align_corners, antialias=True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """torch.nn.functional.grid_sample, of images and volumes."""
    sizes_ = input.shape[2:][::-1]  # the grid's last axis is x, y, z
    spots = []
    for place, size in enumerate(sizes_):
        spot = grid[..., place]
        spot = (spot + 1) / 2 * (size - 1) if align_corners else ((spot + 1) * size - 1) / 2
        spots.append(spot if mode == "bicubic" else _kept_inside(spot, size, padding_mode, align_corners))
    if mode == "nearest":
        corners = [[(ops.round(spot), None)] for spot in spots]
    elif mode == "bilinear":
        lows = [ops.stop_gradient(ops.floor(spot)) for spot in spots]
        corners = [[(low, 1 - (spot - low)), (low + 1, spot - low)] for spot, low in zip(spots, lows)]
    else:
        lows = [ops.stop_gradient(ops.floor(spot)) for spot in spots]
        corners = [[(low + k, _cubic_tensor(spot - low - k)) for k in range(-1, 3)] for spot, low in zip(spots, lows)]
    total = None
    for corner in _all_corners(corners):
        places = [place for place, _ in corner]
        if mode == "bicubic":
            places = [_kept_inside(place, size, padding_mode, align_corners) for place, size in zip(places, sizes_)]
        part = _at_places(input, places, sizes_)
        for _, weight in corner:
            part = part if weight is None else part * weight.unsqueeze(1)
        total = part if total is None else total + part
    return total


def _all_corners(corners):
    result = [[]]
    for options in corners:
        longer = []
        for start in result:
            for option in options:
                longer.append([*start, option])
        result = longer
    return result


def _cubic_tensor(gap):
    a, size = -0.75, ops.abs(gap)
    near = ((a + 2) * size - (a + 3)) * size * size + 1
    far = ((size - 5) * size + 8) * size * a - 4 * a
    return ops.where(size <= 1, near, far)


def _kept_inside(spot, size, padding_mode, align_corners):
    """Places beyond the border, as the padding mode says."""
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if span == 0:
            return spot * 0
        offset = ops.abs(spot - low)
        turns = ops.stop_gradient(ops.floor(offset / span))
        rest = offset - turns * span
        is_even = ops.stop_gradient(turns - 2 * ops.floor(turns / 2)) == 0
        spot = ops.where(is_even, rest + low, span - rest + low)
    return spot if padding_mode == "zeros" else ops.clamp(spot, 0, size - 1)


def _at_places(input, places, sizes_):
    """The elements there; zero outside."""
    batch, channels = input.shape[:2]
    inside, flat, stride = True, 0, 1
    for place, size in zip(places, sizes_):
        inside = (
            ops.logical_and(place >= 0, place <= size - 1)
            if inside is True
            else inside & (place >= 0) & (place <= size - 1)
        )
        flat, stride = flat + ops.stop_gradient(ops.clamp(place, 0, size - 1)) * stride, stride * size
    index = flat.astype("int32").reshape(batch, 1, -1)
    index = ops.broadcast_to(index, (batch, channels, index.shape[2]))
    taken = ops.gather_elements(input.reshape(batch, channels, -1), 2, index)
    shape = places[0].shape
    return taken.reshape((batch, channels) + shape[1:]) * inside.astype(input.dtype).unsqueeze(1)


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """torch.grid_sampler: modes by number."""
    mode = ("bilinear", "nearest", "bicubic")[interpolation_mode]
    return grid_sample(input, grid, mode, ("zeros", "border", "reflection")[padding_mode], align_corners)


def affine_grid(theta, size, align_corners=False):
    """torch.nn.functional.affine_grid."""
    return ops.affine_grid(theta, tuple(size), bool(align_corners))


def pixel_shuffle(input, upscale_factor):
    """torch.nn.functional.pixel_shuffle."""
    r, (c, h, w), lead = upscale_factor, input.shape[-3:], input.shape[:-3]
    x = input.reshape(lead + (c // (r * r), r, r, h, w))
    n = len(lead)
    x = ops.transpose(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return x.reshape(lead + (c // (r * r), h * r, w * r))


def pixel_unshuffle(input, downscale_factor):
    """torch.nn.functional.pixel_unshuffle."""
    r, (c, h, w), lead = downscale_factor, input.shape[-3:], input.shape[:-3]
    x = input.reshape(lead + (c, h // r, r, w // r, r))
    n = len(lead)
    x = ops.transpose(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return x.reshape(lead + (c * r * r, h // r, w // r))


def channel_shuffle(input, groups):
    """torch.nn.functional.channel_shuffle."""
    batch, channels = input.shape[:2]
    x = input.reshape((batch, groups, channels // groups) + input.shape[2:])
    return ops.swapaxes(x, 1, 2).reshape(input.shape)
