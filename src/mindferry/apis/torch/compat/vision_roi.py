"""Regions of interest: torchvision.ops.roi_align as two matrix products, which have gradients everywhere."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """torchvision.ops.roi_align: boxes are (k, 5) with the image's number first, or a list of (n, 4), one for each image."""
    rois = roi_array(boxes)
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    shift = 0.5 if aligned else 0.0
    x1, y1, x2, y2 = (rois[:, column] * spatial_scale - shift for column in range(1, 5))
    least = -np.inf if aligned else 1.0
    rows = roi_weights(y1, np.maximum(y2 - y1, least), height, sampling_ratio, input.shape[2])
    columns = roi_weights(x1, np.maximum(x2 - x1, least), width, sampling_ratio, input.shape[3])
    pictures = ops.gather(input, ms.Tensor(rois[:, 0].astype(np.int32)), 0)
    rows, columns = ms.Tensor(rows[:, None]).astype(input.dtype), ms.Tensor(columns[:, None]).astype(input.dtype)
    return ops.matmul(ops.matmul(rows, pictures), columns.swapaxes(-1, -2))


def roi_array(boxes):
    if isinstance(boxes, (list, tuple)):
        parts = [np.insert(each.asnumpy().reshape(-1, 4), 0, number, axis=1) for number, each in enumerate(boxes)]
        return np.concatenate(parts).astype(np.float64)
    return boxes.asnumpy().astype(np.float64)


def roi_weights(start, length, bins, sampling_ratio, size):
    """How much of each of `size` pixels is in each bin: the mean of evenly spaced samples, each between two pixels."""
    weights = np.zeros((len(start), bins, size))
    for number, (first, extent) in enumerate(zip(start, length)):
        step = extent / bins
        count = sampling_ratio if sampling_ratio > 0 else max(int(np.ceil(step)), 0)
        for place in range(bins):
            points = first + place * step + (np.arange(count) + 0.5) * step / max(count, 1)
            points = np.maximum(points[(points >= -1) & (points <= size)], 0)
            low = np.minimum(points.astype(int), size - 1)
            part = np.where(low >= size - 1, 0.0, points - low)
            np.add.at(weights[number, place], low, (1 - part) / max(count, 1))
            np.add.at(weights[number, place], np.minimum(low + 1, size - 1), part / max(count, 1))
    return weights


class RoIAlign(nn.Cell):
    """torchvision.ops.RoIAlign."""

    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def construct(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)
