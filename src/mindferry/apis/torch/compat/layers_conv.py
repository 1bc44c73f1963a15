"""Convolutions with torch's arguments: unbatched inputs, padding modes and output padding included."""

import math

import mindspore as ms
from mindspore import nn, ops

from .layers_module import reset_uniform


def spread(value, count):
    """One number for every axis, also as a list of one, or the numbers themselves."""
    numbers = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return numbers * count if len(numbers) == 1 else numbers


def edge_pads(padding, kernel_size, dilation):
    """Pads for ops.pad, last axis first; 'same' puts the odd one behind, as torch does."""
    pads = []
    for axis in reversed(range(len(kernel_size))):
        total = dilation[axis] * (kernel_size[axis] - 1)
        pads += [total // 2, total - total // 2] if padding == "same" else [padding[axis], padding[axis]]
    return tuple(pads)


def pad_edges(x, pads, mode):
    """ops.pad by reflection, replication or wrapping; axis by axis where the mode has no kernel for this rank."""
    if mode == "circular" or (mode == "reflect" and len(pads) > 4):
        for index in range(len(pads) // 2):
            x = pad_axis(x, x.ndim - 1 - index, pads[2 * index], pads[2 * index + 1], mode)
        return x
    return ops.pad(x, pads, mode=mode)


def pad_axis(x, axis, before, after, mode):
    """One axis of pad_edges, by picking indices; negative pads cut."""
    size = x.shape[axis]
    places = list(range(-before, size + after))
    if mode == "circular":
        places = [place % size for place in places]
    else:
        places = [abs(place) if place < size else 2 * size - 2 - place for place in places]
    return ops.gather(x, ms.Tensor(places, ms.int32), axis)


class Conv1d(nn.Conv1d):
    """mindspore.nn.Conv1d with torch's arguments and defaults. Its weight has an axis more: (out, in, 1, width)."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        kernel, step, gap = spread(kernel_size, 1), spread(stride, 1), spread(dilation, 1)
        sides = padding if isinstance(padding, str) else spread(padding, 1)
        is_edge = padding_mode != "zeros" and sides != "valid"
        mode = "pad" if is_edge or sides not in ("same", "valid") else sides
        super().__init__(
            in_channels,
            out_channels,
            kernel[0],
            step[0],
            pad_mode=mode,
            padding=sides[0] if mode == "pad" and not is_edge else 0,
            dilation=gap[0],
            group=groups,
            has_bias=bool(bias),
            dtype=dtype or ms.float32,
        )
        self.groups, self.padding_mode = groups, padding_mode
        self.kernel_size, self.stride, self.padding, self.dilation = kernel, step, sides, gap  # as torch has them
        self.pads = edge_pads(sides, kernel, gap) if is_edge else None

    def reset_parameters(self):
        reset_uniform(self)

    def construct(self, input):
        x = input if input.ndim == 3 else input.expand_dims(0)
        if self.pads is not None:
            x = pad_edges(
                x,
                self.pads,
                {"reflect": "reflect", "replicate": "replicate", "circular": "circular"}[self.padding_mode],
            )
        x = nn.Conv1d.construct(self, x)
        return x if input.ndim == 3 else x.squeeze(0)


def call_with_batch(layer, input):
    """What a convolution makes of a batch, or of one image or signal: torch's take both."""
    is_single = input.ndim == (2 if isinstance(layer, nn.Conv1d) else 3)
    return layer(input.expand_dims(0)).squeeze(0) if is_single else layer(input)


class Conv2d(nn.Conv2d):
    """mindspore.nn.Conv2d with torch's arguments and defaults."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        kernel, step, gap = spread(kernel_size, 2), spread(stride, 2), spread(dilation, 2)
        sides = padding if isinstance(padding, str) else spread(padding, 2)
        is_edge = padding_mode != "zeros" and sides != "valid"
        mode = "pad" if is_edge or sides not in ("same", "valid") else sides
        around = (sides[0], sides[0], sides[1], sides[1]) if mode == "pad" and not is_edge else 0
        super().__init__(
            in_channels,
            out_channels,
            kernel,
            step,
            pad_mode=mode,
            padding=around,
            dilation=gap,
            group=groups,
            has_bias=bool(bias),
            dtype=dtype or ms.float32,
        )
        self.groups, self.padding_mode = groups, padding_mode
        self.kernel_size, self.stride, self.padding, self.dilation = kernel, step, sides, gap  # as torch has them
        self.pads = edge_pads(sides, kernel, gap) if is_edge else None

    def reset_parameters(self):
        reset_uniform(self)

    def construct(self, input):
        x = input if input.ndim == 4 else input.expand_dims(0)
        if self.pads is not None:
            x = pad_edges(
                x,
                self.pads,
                {"reflect": "reflect", "replicate": "replicate", "circular": "circular"}[self.padding_mode],
            )
        x = nn.Conv2d.construct(self, x)
        return x if input.ndim == 4 else x.squeeze(0)


class Conv3d(nn.Conv3d):
    """mindspore.nn.Conv3d with torch's arguments and defaults."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        kernel, step, gap = spread(kernel_size, 3), spread(stride, 3), spread(dilation, 3)
        sides = padding if isinstance(padding, str) else spread(padding, 3)
        is_edge = sides == "same" or (padding_mode != "zeros" and sides != "valid")
        around = 0 if is_edge or sides == "valid" else tuple(side for side in sides for _ in range(2))
        super().__init__(
            in_channels,
            out_channels,
            kernel,
            step,
            pad_mode="pad",
            padding=around,
            dilation=gap,
            group=groups,
            has_bias=bool(bias),
            dtype=dtype or ms.float32,
        )
        self.groups, self.padding_mode = groups, padding_mode
        self.kernel_size, self.stride, self.padding, self.dilation = kernel, step, sides, gap  # as torch has them
        self.pads = edge_pads(sides, kernel, gap) if is_edge else None

    def reset_parameters(self):
        reset_uniform(self)

    def construct(self, input):
        x = input if input.ndim == 5 else input.expand_dims(0)
        if self.pads is not None and self.padding_mode == "zeros":
            x = ops.pad(x, self.pads)
        elif self.pads is not None:
            x = pad_edges(
                x,
                self.pads,
                {"reflect": "reflect", "replicate": "replicate", "circular": "circular"}[self.padding_mode],
            )
        x = nn.Conv3d.construct(self, x)
        return x if input.ndim == 5 else x.squeeze(0)


def deconvolved_size(size, kernel, stride, padding, dilation, extra, wanted):
    """Output sizes of a transposed convolution; `wanted` overrides the output padding."""
    plain = [(size[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel[i] - 1) + 1 for i in range(len(kernel))]
    if wanted is not None:
        return tuple(wanted[len(wanted) - len(kernel) :])
    return tuple(plain[i] + extra[i] for i in range(len(kernel)))


class ConvTranspose2d(nn.Conv2dTranspose):
    """mindspore.nn.Conv2dTranspose with torch's arguments, and with values where that one pads its output with zeros."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        kernel, step, gap, sides = (spread(each, 2) for each in (kernel_size, stride, dilation, padding))
        around = (sides[0], sides[0], sides[1], sides[1])
        super().__init__(
            in_channels,
            out_channels,
            kernel,
            step,
            pad_mode="pad",
            padding=around,
            dilation=gap,
            group=groups,
            has_bias=bool(bias),
            dtype=dtype or ms.float32,
        )
        self.groups, self.sides, self.extra = groups, sides, spread(output_padding, 2)
        self.deconvolve = ops.Conv2DTranspose(
            in_channels, kernel, pad_mode="pad", pad=around, stride=step, dilation=gap, group=groups
        )

    def construct(self, input, output_size=None):
        x = input if input.ndim == 4 else input.expand_dims(0)
        size = deconvolved_size(
            x.shape[2:], self.kernel_size, self.stride, self.sides, self.dilation, self.extra, output_size
        )
        x = self.deconvolve(x, self.weight, (x.shape[0], self.out_channels, *size))
        if self.bias is not None:
            x = x + self.bias.reshape((1, -1, 1, 1))
        return x if input.ndim == 4 else x.squeeze(0)


class ConvTranspose1d(nn.Conv1dTranspose):
    """mindspore.nn.Conv1dTranspose with torch's arguments and output padding. Its weight has an axis more: (in, out, 1, width)."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        kernel, step, gap, sides = (spread(each, 1)[0] for each in (kernel_size, stride, dilation, padding))
        super().__init__(
            in_channels,
            out_channels,
            kernel,
            step,
            pad_mode="pad",
            padding=sides,
            dilation=gap,
            group=groups,
            has_bias=bool(bias),
            dtype=dtype or ms.float32,
        )
        self.groups, self.geometry = groups, ((kernel,), (step,), (sides,), (gap,), spread(output_padding, 1))
        self.deconvolve = ops.Conv2DTranspose(
            in_channels,
            (1, kernel),
            pad_mode="pad",
            pad=(0, 0, sides, sides),
            stride=(1, step),
            dilation=(1, gap),
            group=groups,
        )

    def construct(self, input, output_size=None):
        x = (input if input.ndim == 3 else input.expand_dims(0)).expand_dims(2)
        size = deconvolved_size(x.shape[3:], *self.geometry, output_size)
        x = self.deconvolve(x, self.weight, (x.shape[0], self.out_channels, 1, *size)).squeeze(2)
        if self.bias is not None:
            x = x + self.bias.reshape((1, -1, 1))
        return x if input.ndim == 3 else x.squeeze(0)


def dilate(weight, dilation):
    """Zeros between the kernel's values, where MindSpore's operator takes no dilation."""
    for index, gap in enumerate(dilation):
        axis = weight.ndim - len(dilation) + index
        if gap > 1:
            size = weight.shape[axis]
            stuffed = ops.stack([weight * 1, *[ops.zeros_like(weight) for _ in range(gap - 1)]], axis + 1)
            shape = (*weight.shape[:axis], size * gap, *weight.shape[axis + 1 :])
            weight = stuffed.reshape(shape).narrow(axis, 0, (size - 1) * gap + 1)
    return weight


class ConvTranspose3d(nn.Cell):
    """torch.nn.ConvTranspose3d."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.in_channels, self.out_channels, self.groups, self.padding_mode = (
            in_channels,
            out_channels,
            groups,
            padding_mode,
        )
        self.kernel_size, self.stride, self.padding, self.output_padding, self.dilation = (
            spread(each, 3) for each in (kernel_size, stride, padding, output_padding, dilation)
        )
        dtype = dtype or ms.float32
        bound = 1 / math.sqrt(out_channels // groups * math.prod(self.kernel_size))
        shape = (in_channels, out_channels // groups, *self.kernel_size)
        self.weight = ms.Parameter(
            ms.common.initializer.initializer(ms.common.initializer.Uniform(bound), shape, dtype)
        )
        self.bias = (
            ms.Parameter(
                ms.common.initializer.initializer(ms.common.initializer.Uniform(bound), (out_channels,), dtype)
            )
            if bias
            else None
        )
        self.spans = tuple((size - 1) * gap + 1 for size, gap in zip(self.kernel_size, self.dilation))
        sides = tuple(side for side in self.padding for _ in range(2))
        self.deconvolve = ops.Conv3DTranspose(
            in_channels,
            out_channels,
            self.spans,
            pad_mode="pad",
            pad=sides,
            stride=self.stride,
            group=groups,
            output_padding=self.output_padding,
        )

    def reset_parameters(self):
        reset_uniform(self)

    def construct(self, input, output_size=None):
        x = input if input.ndim == 5 else input.expand_dims(0)
        x = self.deconvolve(x, dilate(self.weight, self.dilation))
        if self.bias is not None:
            x = x + self.bias.reshape((1, -1, 1, 1, 1))
        return x if input.ndim == 5 else x.squeeze(0)
