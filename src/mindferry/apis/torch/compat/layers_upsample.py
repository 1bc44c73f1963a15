"""Resizing with torch's coordinates and its cubic kernel, one axis after the other."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from .layers_conv import spread


def source_places(size, wanted, scale, align_corners):
    """Where each output position lies in the input, as torch computes it."""
    places = np.arange(wanted)
    if align_corners:
        return places * ((size - 1) / (wanted - 1) if wanted > 1 else 0.0)
    return (places + 0.5) * (1 / scale if scale else size / wanted) - 0.5


def resize_weights(size, wanted, scale, mode, align_corners):
    """The matrix (wanted, size) that resizes one axis."""
    weights = np.zeros((wanted, size), np.float32)
    rows = np.arange(wanted)
    if mode in ("nearest", "nearest-exact"):
        offset = 0.5 if mode == "nearest-exact" else 0.0
        places = np.floor((rows + offset) * (1 / scale if scale else size / wanted) + 1e-9).astype(int)
        weights[rows, np.minimum(places, size - 1)] = 1
        return weights
    places = source_places(size, wanted, scale, align_corners)
    if mode != "bicubic":
        places = np.maximum(places, 0)
    low = np.floor(places).astype(int)
    share = places - low
    if mode == "bicubic":
        near, far = lambda t: ((1.25 * t - 2.25) * t) * t + 1, lambda t: ((-0.75 * t + 3.75) * t - 6) * t + 3
        parts = [(-1, far(share + 1)), (0, near(share)), (1, near(1 - share)), (2, far(2 - share))]
    else:
        parts = [(0, 1 - share), (1, share)]
    for offset, part in parts:
        np.add.at(weights, (rows, np.clip(low + offset, 0, size - 1)), part)
    return weights


class Upsample(nn.Cell):
    """torch.nn.Upsample."""

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.size, self.scale_factor, self.mode, self.align_corners = size, scale_factor, mode, bool(align_corners)
        self.recompute = bool(recompute_scale_factor)

    def construct(self, input):
        rank = input.ndim - 2
        scales = spread(self.scale_factor, rank) if self.size is None else (None,) * rank
        sizes = spread(self.size, rank) if self.size is not None else None
        x = input
        for index in range(rank):
            axis, length, scale = index + 2, input.shape[index + 2], scales[index]
            wanted = sizes[index] if sizes is not None else int(length * scale)
            if wanted == length and not (scale is not None and scale != 1):
                continue
            weights = resize_weights(length, wanted, None if self.recompute else scale, self.mode, self.align_corners)
            moved = ops.matmul(x.swapaxes(axis, -1), ms.Tensor(weights.T))
            x = moved.swapaxes(axis, -1)
        return x


class UpsamplingBilinear2d(Upsample):
    """torch.nn.UpsamplingBilinear2d."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "bilinear", True)


class UpsamplingNearest2d(Upsample):
    """torch.nn.UpsamplingNearest2d."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, "nearest")
