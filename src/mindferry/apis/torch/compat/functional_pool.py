"""Pooling as functions, with torch's arguments, from gathers and reductions that every device has."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .functional_conv import per_axis, window_table
from .functions_index import scatter
from .layers_pool_adaptive import FractionalMaxPool2d, FractionalMaxPool3d, adaptive_max


def window_values(x, rank, table):
    """(elements of each window, which of them are inside, flat positions)."""
    flat = x.reshape(x.shape[: x.ndim - rank] + (-1,))
    index = ms.Tensor(np.maximum(table, 0).reshape(-1).astype(np.int32))
    taken = ops.gather(flat, index, flat.ndim - 1).reshape(flat.shape[:-1] + table.shape)
    return taken, ms.Tensor(table >= 0), ms.Tensor(table.astype(np.int64))


def max_pool(input, rank, kernel_size, stride, padding, dilation, ceil_mode):
    """(values, flat indices)."""
    kernel = per_axis(kernel_size, rank)
    steps = per_axis(stride, rank) if stride else kernel
    outputs, table = window_table(
        input.shape[-rank:], kernel, steps, per_axis(padding, rank), per_axis(dilation, rank), ceil_mode
    )
    lead = input.shape[: input.ndim - rank]
    if not input.size:
        return ops.zeros(lead + outputs, input.dtype), ops.zeros(lead + outputs, ms.int64)
    values, inside, places = window_values(input, rank, table)
    values = ops.where(inside, values, ops.full_like(values, float("-inf")))
    best = ops.argmax(values, -1).astype(ms.int64).unsqueeze(-1)
    top = ops.gather_elements(values, -1, best)
    index = ops.gather_elements(ops.broadcast_to(places, values.shape), -1, best)
    return top.reshape(lead + outputs), index.reshape(lead + outputs)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """torch.nn.functional.max_pool1d."""
    found = max_pool(input, 1, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """torch.nn.functional.max_pool2d."""
    if return_indices:
        return max_pool(input, 2, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool2d_values(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_values(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    """ops.max_pool2d by the kernel of nn.MaxPool2d: on a CPU, its gradient takes a twentieth of the time."""
    if input.ndim != 4 or input.dtype != ms.float32:
        return ops.max_pool2d(input, kernel_size, stride or kernel_size, padding, dilation, ceil_mode=ceil_mode)
    kernel, steps = per_axis(kernel_size, 2), per_axis(stride or kernel_size, 2)
    pads, gaps = per_axis(padding, 2), per_axis(dilation, 2)
    pool = ops.MaxPool3DWithArgmax((1, *kernel), (1, *steps), (0, *pads), (1, *gaps), ceil_mode)
    return pool(input.expand_dims(2))[0].squeeze(2)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """torch.nn.functional.max_pool3d."""
    found = max_pool(input, 3, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]


def max_pool1d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=True
):
    """torch.nn.functional.max_pool1d_with_indices."""
    return max_pool(input, 1, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=True
):
    """torch.nn.functional.max_pool2d_with_indices."""
    return max_pool(input, 2, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices):
    """torch.ops.aten.max_pool2d_with_indices_backward: each place gets the gradients of the windows that it is the maximum of."""
    lead, size = input.shape[:-2], input.shape[-2] * input.shape[-1]
    if not grad_output.size:
        return ops.zeros(input.shape, input.dtype)
    flat = ops.zeros((*lead, size), grad_output.dtype)
    places, values = indices.reshape((*lead, -1)), grad_output.reshape((*lead, -1))
    return ops.tensor_scatter_elements(flat, places, values, len(lead), "add").reshape(input.shape)


def max_pool3d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=True
):
    """torch.nn.functional.max_pool3d_with_indices."""
    return max_pool(input, 3, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool(input, rank, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    kernel = per_axis(kernel_size, rank)
    steps = per_axis(stride, rank) if stride else kernel
    pads, spatial = per_axis(padding, rank), input.shape[-rank:]
    outputs, table = window_table(spatial, kernel, steps, pads, (1,) * rank, ceil_mode)
    counts = np.sum(table >= 0, 1)
    if divisor_override:
        counts = np.full(len(table), divisor_override)
    elif count_include_pad:  # padding counts, what lies beyond it doesn't
        ends = [
            np.minimum(np.arange(o) * s - p + k, n + p) - (np.arange(o) * s - p)
            for o, s, p, k, n in zip(outputs, steps, pads, kernel, spatial)
        ]
        counts = ends[0]
        for each in ends[1:]:
            counts = np.multiply.outer(counts, each)
    lead = input.shape[: input.ndim - rank]
    if not input.size:
        return ops.zeros(lead + outputs, input.dtype)
    values, inside, _ = window_values(input, rank, table)
    total = ops.where(inside, values, ops.zeros_like(values)).sum(axis=-1)
    return (total * ms.Tensor((1 / counts).reshape(-1).astype(np.float32))).astype(input.dtype).reshape(lead + outputs)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """torch.nn.functional.avg_pool1d."""
    return avg_pool(input, 1, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """torch.nn.functional.avg_pool2d; by MindSpore's own kernel where that means the same."""
    kernel, pads = per_axis(kernel_size, 2), per_axis(padding, 2)
    is_plain = input.ndim == 4 and not ceil_mode and divisor_override is None and (count_include_pad or sum(pads) == 0)
    if is_plain and input.dtype == ms.float32:
        x = ops.pad(input, (pads[1], pads[1], pads[0], pads[0])) if sum(pads) else input
        return ops.avg_pool2d(x, kernel, per_axis(stride, 2) if stride else kernel)
    return avg_pool(input, 2, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """torch.nn.functional.avg_pool3d."""
    return avg_pool(input, 3, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def lp_pool(input, rank, norm_type, kernel_size, stride, ceil_mode):
    kernel = per_axis(kernel_size, rank)
    mean = avg_pool(ops.pow(input, norm_type), rank, kernel, stride, 0, ceil_mode, True, None)
    return ops.pow(ops.sign(mean) * ops.relu(ops.abs(mean)) * math.prod(kernel), 1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """torch.nn.functional.lp_pool1d."""
    return lp_pool(input, 1, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """torch.nn.functional.lp_pool2d."""
    return lp_pool(input, 2, norm_type, kernel_size, stride, ceil_mode)


def adaptive_tables(input, rank, output_size):
    sizes_ = [size if want is None else want for size, want in zip(input.shape[-rank:], per_axis(output_size, rank))]
    edges = [[(i * n // o, -(-(i + 1) * n // o)) for i in range(o)] for n, o in zip(input.shape[-rank:], sizes_)]
    return tuple(sizes_), edges


def adaptive_avg_pool(input, rank, output_size):
    """Means by one matrix for each axis."""
    _, edges = adaptive_tables(input, rank, output_size)
    for place, windows_ in enumerate(edges):
        axis = input.ndim - rank + place
        matrix = np.zeros((len(windows_), input.shape[axis]), np.float32)
        for row, (start, end) in enumerate(windows_):
            matrix[row, start:end] = 1 / (end - start)
        input = along_axis(input, axis, matrix)
    return input


def along_axis(x, axis, matrix):
    """A constant matrix applied to one axis."""
    if not x.size or not matrix.size:
        return ops.zeros(x.shape[:axis] + (matrix.shape[0],) + x.shape[axis + 1 :], x.dtype)
    moved = ops.matmul(ops.movedim(x, axis, -1), ms.Tensor(matrix.T.copy()).astype(x.dtype))
    return ops.movedim(moved, -1, axis)


def adaptive_avg_pool1d(input, output_size):
    """torch.nn.functional.adaptive_avg_pool1d."""
    return adaptive_avg_pool(input, 1, output_size)


def adaptive_avg_pool2d(input, output_size):
    """torch.nn.functional.adaptive_avg_pool2d."""
    return adaptive_avg_pool(input, 2, output_size)


def adaptive_avg_pool3d(input, output_size):
    """torch.nn.functional.adaptive_avg_pool3d."""
    return adaptive_avg_pool(input, 3, output_size)


def adaptive_max_pool(input, rank, output_size, return_indices):
    found = adaptive_max(input, per_axis(output_size, rank))
    return found if return_indices else found[0]


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """torch.nn.functional.adaptive_max_pool1d."""
    return adaptive_max_pool(input, 1, output_size, return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """torch.nn.functional.adaptive_max_pool2d."""
    return adaptive_max_pool(input, 2, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """torch.nn.functional.adaptive_max_pool3d."""
    return adaptive_max_pool(input, 3, output_size, return_indices)


def max_unpool(input, indices, rank, kernel_size, stride, padding, output_size):
    kernel, pads = per_axis(kernel_size, rank), per_axis(padding, rank)
    steps = per_axis(stride, rank) if stride else kernel
    spatial = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(input.shape[-rank:], steps, pads, kernel))
    spatial = spatial if output_size is None else tuple(output_size)[-rank:]
    lead = input.shape[: input.ndim - rank]
    flat = ops.zeros((math.prod(lead), math.prod(spatial)), input.dtype)
    return scatter(flat, 1, indices.reshape(flat.shape[0], -1), input.reshape(flat.shape[0], -1)).reshape(
        lead + spatial
    )


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """torch.nn.functional.max_unpool1d."""
    return max_unpool(input, indices, 1, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """torch.nn.functional.max_unpool2d."""
    return max_unpool(input, indices, 2, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """torch.nn.functional.max_unpool3d."""
    return max_unpool(input, indices, 3, kernel_size, stride, padding, output_size)


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """torch.nn.functional.fractional_max_pool2d."""
    return FractionalMaxPool2d(kernel_size, output_size, output_ratio, return_indices, _random_samples)(input)


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """torch.nn.functional.fractional_max_pool3d."""
    return FractionalMaxPool3d(kernel_size, output_size, output_ratio, return_indices, _random_samples)(input)
