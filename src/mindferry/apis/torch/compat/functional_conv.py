"""Convolutions and folding as functions, with torch's arguments."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .functions_math import matmul
from .functions_shape import narrow, select_rows


def per_axis(value, rank):
    """One number for each axis."""
    if isinstance(value, (tuple, list)):
        return tuple(value) * rank if len(value) == 1 else tuple(value)
    return (value,) * rank


def last_first(pairs):
    """Pairs for each axis as one flat tuple, the last axis first."""
    flat = ()
    for low, high in pairs:
        flat = (low, high) + flat
    return flat


def convolve(input, weight, bias, stride, padding, dilation, groups):
    """A convolution over the last one, two or three dimensions; the batch dimension may be missing."""
    rank = weight.ndim - 2
    x = input.unsqueeze(0) if input.ndim == rank + 1 else input
    stride, dilation = per_axis(stride, rank), per_axis(dilation, rank)
    if isinstance(padding, str):
        totals = [each * (size - 1) if padding == "same" else 0 for each, size in zip(dilation, weight.shape[2:])]
        pads = [(each // 2, each - each // 2) for each in totals]
    else:
        pads = [(each, each) for each in per_axis(padding, rank)]
    if any(low != high for low, high in pads) or rank != 2:
        x = pad(x, last_first(pads))
        pads = [(0, 0)] * rank
    y = _convolve_padded(x, weight, stride, pads, dilation, groups)
    y = y if bias is None else y + bias.reshape((1, -1) + (1,) * rank)
    return y.squeeze(0) if input.ndim == rank + 1 else y


def _convolve_padded(x, weight, stride, pads, dilation, groups):
    rank = weight.ndim - 2
    if rank == 1:
        return ops.conv2d(
            x.unsqueeze(2), weight.unsqueeze(2), None, (1, *stride), "valid", 0, (1, *dilation), groups
        ).squeeze(2)
    if rank == 2:
        return ops.conv2d(x, weight, None, stride, "pad", tuple(low for low, _ in pads), dilation, groups)
    if groups == 1:
        return ops.conv3d(x, weight, None, stride, "valid", 0, dilation, 1)
    parts = zip(ops.split(x, x.shape[1] // groups, 1), ops.split(weight, weight.shape[0] // groups, 0))
    return ops.cat([ops.conv3d(a, b, None, stride, "valid", 0, dilation, 1) for a, b in parts], 1)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch.nn.functional.conv1d."""
    return convolve(input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch.nn.functional.conv2d."""
    return convolve(input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch.nn.functional.conv3d."""
    return convolve(input, weight, bias, stride, padding, dilation, groups)


def spaced(x, steps):
    """x with step - 1 zeros after each element along the last axes, but not after the last."""
    rank = len(steps)
    for axis, step in zip(range(x.ndim - rank, x.ndim), steps):
        if step > 1:
            wide = x.unsqueeze(axis + 1)
            zeros_ = ops.zeros(wide.shape[: axis + 1] + (step - 1,) + wide.shape[axis + 2 :], x.dtype)
            joined = ops.cat((wide, zeros_), axis + 1)
            length = x.shape[axis] * step
            x = joined.reshape(x.shape[:axis] + (length,) + x.shape[axis + 1 :])
            x = ops.narrow(x, axis, 0, length - step + 1)
    return x


def conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation):
    """The convolution of the spaced-out input with the mirrored kernel."""
    rank = weight.ndim - 2
    x = input.unsqueeze(0) if input.ndim == rank + 1 else input
    stride, padding, extra, dilation = (per_axis(each, rank) for each in (stride, padding, output_padding, dilation))
    kernel = weight.shape[2:]
    flipped = ops.flip(weight, tuple(range(2, weight.ndim)))
    channels, each_out = weight.shape[:2]
    turned = flipped.reshape((groups, channels // groups, each_out) + kernel).swapaxes(1, 2)
    turned = turned.reshape((groups * each_out, channels // groups) + kernel)
    reach = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding)]
    x = spaced(x, stride)
    x = pad(x, last_first([(low, low + more) for low, more in zip(reach, extra)]))
    y = convolve(x, turned, bias, 1, 0, dilation, groups)
    return y.squeeze(0) if input.ndim == rank + 1 else y


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """torch.nn.functional.conv_transpose1d."""
    return conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """torch.nn.functional.conv_transpose2d."""
    return conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """torch.nn.functional.conv_transpose3d."""
    return conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)


def pad(input, pad, mode="constant", value=None):
    """torch.nn.functional.pad."""
    return pad_pairs(input, pad, mode, value)


def pad_pairs(x, pairs, mode, value):
    """Pairs from the last dimension backwards; negative numbers crop."""
    sides = list(pairs)
    for place in range(len(sides) // 2):
        axis, low, high = x.ndim - 1 - place, sides[2 * place], sides[2 * place + 1]
        if mode == "constant":
            x = pad_constant(x, axis, low, high, 0 if value is None else value)
        elif low or high:
            size = x.shape[axis]
            index = np.arange(-low, size + high)
            if mode == "replicate":
                index = np.clip(index, 0, size - 1)
            elif mode == "circular":
                kept = np.arange(max(-low, 0), size - max(-high, 0))
                index = np.pad(kept, (max(low, 0), max(high, 0)), "wrap")
            else:
                index = np.abs(index)
                index = np.where(index >= size, 2 * (size - 1) - index, index)
            x = select_rows(x, axis, index)
    return x


def constant_pad_nd(input, pad, value=0):
    """torch.constant_pad_nd."""
    return pad_pairs(input, pad, "constant", value)


def pad_constant(x, axis, low, high, value):
    """x with `value` before and after, or cut there."""
    start, end = max(-low, 0), x.shape[axis] - max(-high, 0)
    if start or end != x.shape[axis]:
        x = narrow(x, axis, start, max(end - start, 0))
    if low > 0:
        before = ops.full(x.shape[:axis] + (low,) + x.shape[axis + 1 :], value, dtype=x.dtype)
        x = ops.cat((before, x), axis) if x.shape[axis] else before
    if high > 0:
        after = ops.full(x.shape[:axis] + (high,) + x.shape[axis + 1 :], value, dtype=x.dtype)
        x = ops.cat((x, after), axis) if x.shape[axis] else after
    return x


def window_table(spatial, kernel, stride, padding, dilation, ceil_mode=False):
    """(output sizes, for each window the flat positions of its elements, -1 in the padding)."""
    outputs, axes = [], []
    for size, k, s, p, d in zip(spatial, kernel, stride, padding, dilation):
        room = size + 2 * p - d * (k - 1) - 1
        count = (-(-room // s) if ceil_mode else room // s) + 1
        if ceil_mode and (count - 1) * s >= size + p:
            count -= 1  # a window may not start in the padding at the end
        places = np.arange(count)[:, None] * s - p + np.arange(k) * d
        outputs.append(count)
        axes.append(np.where((places >= 0) & (places < size), places, -1))
    rank, table, inside = len(axes), 0, True
    for axis, places in enumerate(axes):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = places.shape
        places = places.reshape(shape)
        table, inside = table * spatial[axis] + places, inside & (places >= 0)
    table = np.where(inside, table, -1)
    return tuple(outputs), table.reshape(math.prod(outputs), -1)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """torch.nn.functional.unfold: the windows as columns."""
    x = input.unsqueeze(0) if input.ndim == 3 else input
    kernel, stride, padding, dilation = (per_axis(each, 2) for each in (kernel_size, stride, padding, dilation))
    _, table = window_table(x.shape[2:], kernel, stride, padding, dilation)
    if not x.size:
        columns = ops.zeros((x.shape[0], x.shape[1] * table.shape[1], table.shape[0]), x.dtype)
        return columns.squeeze(0) if input.ndim == 3 else columns
    flat = ops.cat((x.reshape(x.shape[0], x.shape[1], -1), ops.zeros((*x.shape[:2], 1), x.dtype)), 2)
    index = np.where(table < 0, flat.shape[2] - 1, table).T
    columns = ops.gather(flat, ms.Tensor(np.ascontiguousarray(index).reshape(-1).astype(np.int32)), 2)
    columns = columns.reshape(x.shape[0], x.shape[1] * index.shape[0], index.shape[1])
    return columns.squeeze(0) if input.ndim == 3 else columns


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """torch.nn.functional.fold: columns added up where their windows lie."""
    x = input.unsqueeze(0) if input.ndim == 2 else input
    size, kernel, stride, padding, dilation = (
        per_axis(each, 2) for each in (output_size, kernel_size, stride, padding, dilation)
    )
    _, table = window_table(size, kernel, stride, padding, dilation)
    area = math.prod(size)
    index = np.where(table < 0, area, table).T.reshape(-1, 1)
    lead = (x.shape[0], x.shape[1] // math.prod(kernel))
    rows = ops.swapaxes(x.reshape(lead[0] * lead[1], -1), 0, 1)
    total = ops.tensor_scatter_add(
        ops.zeros((area + 1, rows.shape[1]), x.dtype), ms.Tensor(index.astype(np.int32)), rows
    )
    image = ops.swapaxes(total[:area], 0, 1).reshape(lead + size)
    return image.squeeze(0) if input.ndim == 2 else image


def linear(input, weight, bias=None):
    """torch.nn.functional.linear; over rows, since ops.matmul repeats the weight for each entry of a batch."""
    columns = ops.swapaxes(weight, 0, 1) if weight.ndim == 2 else weight
    if input.ndim > 2 and 0 not in input.shape:
        y = matmul(input.reshape(-1, input.shape[-1]), columns).reshape(input.shape[:-1] + weight.shape[:-1])
    else:
        y = matmul(input, columns)
    return y if bias is None else y + bias


def bilinear(input1, input2, weight, bias=None):
    """torch.nn.functional.bilinear."""
    rows = (input1.unsqueeze(-1) * input2.unsqueeze(-2)).reshape(-1, weight.shape[1] * weight.shape[2])
    y = matmul(rows, ops.swapaxes(weight.reshape(weight.shape[0], -1), 0, 1)).reshape(
        input1.shape[:-1] + (weight.shape[0],)
    )
    return y if bias is None else y + bias
