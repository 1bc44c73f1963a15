"""Boxes and pictures: torchvision.ops and torchvision.utils."""

import math

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from PIL import Image


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_overlap(boxes1, boxes2):
    """Intersection and union of every pair."""
    size = ops.clamp(
        ops.minimum(boxes1[:, None, 2:], boxes2[:, 2:]) - ops.maximum(boxes1[:, None, :2], boxes2[:, :2]), min=0
    )
    inter = size[:, :, 0] * size[:, :, 1]
    return inter, box_area(boxes1)[:, None] + box_area(boxes2) - inter


def box_iou(boxes1, boxes2):
    """torchvision.ops.box_iou: (n, 4) and (m, 4) as x1, y1, x2, y2 -> (n, m)."""
    inter, union = box_overlap(boxes1, boxes2)
    return inter / union


def generalized_box_iou(boxes1, boxes2):
    inter, union = box_overlap(boxes1, boxes2)
    size = ops.maximum(boxes1[:, None, 2:], boxes2[:, 2:]) - ops.minimum(boxes1[:, None, :2], boxes2[:, :2])
    hull = ops.clamp(size, min=0)[:, :, 0] * ops.clamp(size, min=0)[:, :, 1]
    return inter / union - (hull - union) / hull


def box_convert(boxes, in_fmt, out_fmt):
    """torchvision.ops.box_convert between xyxy, xywh and cxcywh."""
    a, b, c, d = (boxes[..., i] for i in range(4))
    if in_fmt == "xywh":
        c, d = a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        c, d = c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return ops.stack((a, b, c, d), -1)


def clip_boxes_to_image(boxes, size):
    height, width = size
    x = ops.clamp(boxes[..., 0::2], min=0, max=width)
    y = ops.clamp(boxes[..., 1::2], min=0, max=height)
    return ops.stack((x, y), -1).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size):
    values = boxes.asnumpy()
    keep = (values[:, 2] - values[:, 0] >= min_size) & (values[:, 3] - values[:, 1] >= min_size)
    return ms.Tensor(np.nonzero(keep)[0].astype(np.int64))


def nms(boxes, scores, iou_threshold):
    """torchvision.ops.nms: the boxes to keep, best first."""
    return ms.Tensor(nms_arrays(boxes.asnumpy(), scores.asnumpy(), iou_threshold))


def nms_arrays(boxes, scores, iou_threshold):
    x1, y1, x2, y2 = boxes.T
    area = (x2 - x1) * (y2 - y1)
    order, kept = np.argsort(-scores, kind="stable"), []
    while order.size:
        best, rest = order[0], order[1:]
        kept.append(best)
        width = np.maximum(0, np.minimum(x2[best], x2[rest]) - np.maximum(x1[best], x1[rest]))
        height = np.maximum(0, np.minimum(y2[best], y2[rest]) - np.maximum(y1[best], y1[rest]))
        inter = width * height
        with np.errstate(invalid="ignore"):  # two empty boxes keep each other
            order = rest[~(inter / (area[best] + area[rest] - inter) > iou_threshold)]
    return np.array(kept, dtype=np.int64)


def batched_nms(boxes, scores, idxs, iou_threshold):
    """torchvision.ops.batched_nms: boxes of different classes don't suppress each other."""
    values, ranks, classes = boxes.asnumpy(), scores.asnumpy(), idxs.asnumpy()
    if not values.size:
        return ms.Tensor(np.zeros(0, np.int64))
    apart = values + (classes * (values.max() + 1)).astype(values.dtype)[:, None]
    return ms.Tensor(nms_arrays(apart, ranks, iou_threshold))


def masks_to_boxes(masks):
    """torchvision.ops.masks_to_boxes: (n, height, width) -> (n, 4)."""
    boxes = []
    for mask in masks.asnumpy():
        y, x = np.nonzero(mask)
        boxes.append([x.min(), y.min(), x.max(), y.max()])
    return ms.Tensor(np.array(boxes, dtype=np.float32).reshape(-1, 4))


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    probability = ops.sigmoid(inputs)
    ones = ops.ones_like(inputs)
    cross_entropy = ops.binary_cross_entropy_with_logits(inputs, targets, ones, ones, reduction="none")
    right = probability * targets + (1 - probability) * (1 - targets)
    loss = cross_entropy * ops.pow(1 - right, gamma)
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return {"none": lambda: loss, "mean": lambda: loss.mean(), "sum": lambda: loss.sum()}[reduction]()


class FrozenBatchNorm2d(nn.Cell):
    """torchvision.ops.FrozenBatchNorm2d: fixed statistics and fixed scale."""

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        values = {"weight": np.ones, "bias": np.zeros, "running_mean": np.zeros, "running_var": np.ones}
        for name, make in values.items():
            setattr(self, name, ms.Parameter(ms.Tensor(make(num_features, np.float32)), name=name, requires_grad=False))

    def construct(self, x):
        scale = (self.weight * ops.rsqrt(self.running_var + self.eps)).reshape(1, -1, 1, 1)
        return x * scale + self.bias.reshape(1, -1, 1, 1) - self.running_mean.reshape(1, -1, 1, 1) * scale


def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """torchvision.utils.make_grid: a batch of images as one."""
    images = (
        np.stack([np.asarray(_values(each)) for each in tensor])
        if isinstance(tensor, (list, tuple))
        else _values(tensor)
    )
    images = images[None] if images.ndim == 2 else images
    if images.ndim == 3:
        images = (np.repeat(images, 3, 0) if images.shape[0] == 1 else images)[None]
    images = np.repeat(images, 3, 1) if images.shape[1] == 1 else images
    if normalize:
        parts = [unit_range(each, value_range) for each in images] if scale_each else unit_range(images, value_range)
        images = np.stack(parts) if scale_each else parts
    if len(images) == 1:
        return ms.Tensor(np.ascontiguousarray(images[0]))
    columns = min(nrow, len(images))
    rows = math.ceil(len(images) / columns)
    height, width = images.shape[2] + padding, images.shape[3] + padding
    grid = np.full((images.shape[1], height * rows + padding, width * columns + padding), pad_value, images.dtype)
    for number, image in enumerate(images):
        top, left = number // columns * height + padding, number % columns * width + padding
        grid[:, top : top + image.shape[1], left : left + image.shape[2]] = image
    return ms.Tensor(grid)


def _values(tensor):
    return tensor.asnumpy() if isinstance(tensor, ms.Tensor) else np.asarray(tensor)


def unit_range(images, value_range):
    low, high = value_range or (float(images.min()), float(images.max()))
    return ((np.clip(images, low, high) - low) / max(high - low, 1e-5)).astype(images.dtype)


def save_image(tensor, fp, format=None, **kwargs):
    """torchvision.utils.save_image: a grid of the images, as a file."""
    grid = make_grid(tensor, **kwargs).asnumpy()
    pixels = np.clip(grid * 255 + 0.5, 0, 255).astype(np.uint8).transpose(1, 2, 0)
    Image.fromarray(np.ascontiguousarray(pixels)).save(fp, format=format)
