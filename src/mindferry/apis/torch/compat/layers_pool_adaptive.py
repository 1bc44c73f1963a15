"""Adaptive, power-average, fractional and inverse pooling, from gathers and reductions that every device has."""

import mindspore as ms
from mindspore import nn, ops

from .layers_conv import spread
from .layers_module import register_buffer


def adaptive_windows(size, parts):
    """The index range of each output position along one axis, as torch cuts it."""
    parts = size if parts is None else parts
    return [(index * size // parts, -(-(index + 1) * size // parts)) for index in range(parts)]


def adaptive_average(x, output_size):
    """Means over adaptive windows, one axis after the other."""
    for axis, parts in zip(range(x.ndim - len(output_size), x.ndim), output_size):
        size = x.shape[axis]
        if parts is not None and parts != size:
            means = [
                x.narrow(axis, start, stop - start).mean(axis, keep_dims=True)
                for start, stop in adaptive_windows(size, parts)
            ]
            x = ops.cat(means, axis) if len(means) > 1 else means[0]
    return x


class AdaptiveAvgPool1d(nn.Cell):
    """torch.nn.AdaptiveAvgPool1d."""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = spread(output_size, 1)

    def construct(self, input):
        return adaptive_average(input, self.output_size)


class AdaptiveAvgPool2d(nn.AdaptiveAvgPool2d):
    """torch.nn.AdaptiveAvgPool2d."""

    def __init__(self, output_size):
        super().__init__(tuple(output_size) if isinstance(output_size, list) else output_size)


class AdaptiveAvgPool3d(nn.Cell):
    """torch.nn.AdaptiveAvgPool3d."""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = spread(output_size, 3)

    def construct(self, input):
        return adaptive_average(input, self.output_size)


def window_places(starts, stops, sizes):
    """Flat positions within a plane of each window's values; a short window repeats its first value."""
    places = [0]
    for start, stop, size in zip(starts, stops, sizes):
        places = [place * size + position for place in places for position in range(start, stop)]
    return places


def adaptive_max(x, output_size):
    """(values, flat indices) of the maximum over adaptive windows."""
    rank = len(output_size)
    sizes = x.shape[x.ndim - rank :]
    cuts = [adaptive_windows(size, parts) for size, parts in zip(sizes, output_size)]
    windows = [[]]
    for axis in cuts:
        windows = [[*window, cut] for window in windows for cut in axis]
    places = [window_places([c[0] for c in window], [c[1] for c in window], sizes) for window in windows]
    longest = max(len(each) for each in places)
    table = ms.Tensor([each + each[:1] * (longest - len(each)) for each in places], ms.int32)
    flat = x.reshape((*x.shape[: x.ndim - rank], -1))
    gathered = ops.gather(flat, table.reshape((-1,)), flat.ndim - 1).reshape((*flat.shape[:-1], len(places), longest))
    best = ops.argmax(gathered, -1).astype(ms.int32)
    values = ops.gather_elements(gathered, -1, best.expand_dims(-1)).squeeze(-1)
    indices = ops.gather_elements(ops.broadcast_to(table, gathered.shape), -1, best.expand_dims(-1)).squeeze(-1)
    shape = (*x.shape[: x.ndim - rank], *[len(axis) for axis in cuts])
    return values.reshape(shape), indices.reshape(shape).astype(ms.int64)


class AdaptiveMaxPool1d(nn.Cell):
    """torch.nn.AdaptiveMaxPool1d."""

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = spread(output_size, 1), return_indices

    def construct(self, input):
        values, indices = adaptive_max(input, self.output_size)
        return (values, indices) if self.return_indices else values


class AdaptiveMaxPool2d(nn.Cell):
    """torch.nn.AdaptiveMaxPool2d."""

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = spread(output_size, 2), return_indices

    def construct(self, input):
        values, indices = adaptive_max(input, self.output_size)
        return (values, indices) if self.return_indices else values


class AdaptiveMaxPool3d(nn.Cell):
    """torch.nn.AdaptiveMaxPool3d."""

    def __init__(self, output_size, return_indices=False):
        super().__init__()
        self.output_size, self.return_indices = spread(output_size, 3), return_indices

    def construct(self, input):
        values, indices = adaptive_max(input, self.output_size)
        return (values, indices) if self.return_indices else values


class LPPool(nn.Cell):
    """(sum of x ** norm_type over a window) ** (1 / norm_type)."""

    def __init__(self, rank, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size = float(norm_type), kernel_size
        self.stride, self.ceil_mode, self.count = kernel_size if stride is None else stride, ceil_mode, 1
        for size in spread(kernel_size, rank):
            self.count *= size
        pool = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}[rank]
        self.average = pool(kernel_size, self.stride, "pad", 0, ceil_mode)

    def construct(self, input):
        means = self.average(ops.pow(input, self.norm_type))
        means = ops.select(means > 0, means, means * 0)  # not relu, which would hide a nan
        return ops.pow(means * self.count, 1 / self.norm_type)


class LPPool1d(LPPool):
    """torch.nn.LPPool1d."""

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__(1, norm_type, kernel_size, stride, ceil_mode)


class LPPool2d(LPPool):
    """torch.nn.LPPool2d."""

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__(2, norm_type, kernel_size, stride, ceil_mode)


class LPPool3d(LPPool):
    """torch.nn.LPPool3d."""

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__(3, norm_type, kernel_size, stride, ceil_mode)


class MaxUnpool(nn.Cell):
    """Puts each value back where max pooling found it; zeros elsewhere."""

    def __init__(self, rank, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.padding = spread(kernel_size, rank), spread(padding, rank)
        self.stride = self.kernel_size if stride is None else spread(stride, rank)

    def construct(self, input, indices, output_size=None):
        rank = len(self.kernel_size)
        lead, sizes = input.shape[: input.ndim - rank], input.shape[input.ndim - rank :]
        if output_size is None:
            output_size = [
                (sizes[i] - 1) * self.stride[i] - 2 * self.padding[i] + self.kernel_size[i] for i in range(rank)
            ]
        shape, count = tuple(output_size[len(output_size) - rank :]), 1
        for size in shape:
            count *= size
        flat = ops.zeros((*lead, count), input.dtype)
        places = indices.reshape((*lead, -1)).astype(ms.int32)
        return ops.tensor_scatter_elements(flat, places, input.reshape((*lead, -1)), len(lead)).reshape((*lead, *shape))


class MaxUnpool1d(MaxUnpool):
    """torch.nn.MaxUnpool1d."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__(1, kernel_size, stride, padding)


class MaxUnpool2d(MaxUnpool):
    """torch.nn.MaxUnpool2d."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__(2, kernel_size, stride, padding)


class MaxUnpool3d(MaxUnpool):
    """torch.nn.MaxUnpool3d."""

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__(3, kernel_size, stride, padding)


def fractional_starts(sample, size, parts, kernel):
    """Where torch's fractional pooling starts its windows along one axis: shape (n, c, parts)."""
    if parts == 1:
        return ops.full((*sample.shape, 1), size - kernel, dtype=ms.int32)
    step = (size - kernel) / (parts - 1)
    steps = ops.arange(parts - 1).astype(ms.float32)
    places = ((steps + sample.expand_dims(-1)) * step).astype(ms.int32)
    last = ops.full((*sample.shape, 1), size - kernel, dtype=ms.int32)
    return ops.cat((places - (sample * step).astype(ms.int32).expand_dims(-1), last), -1)


class FractionalMaxPool(nn.Cell):
    """Max pooling over windows that start at random places (Graham, 2014)."""

    def __init__(
        self, rank, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
    ):
        super().__init__()
        self.kernel_size, self.return_indices = spread(kernel_size, rank), return_indices
        register_buffer(self, "_random_samples", _random_samples)
        self.output_size = None if output_size is None else spread(output_size, rank)
        self.output_ratio = None if output_ratio is None else spread(output_ratio, rank)

    def construct(self, input):
        rank = len(self.kernel_size)
        x = input if input.ndim == rank + 2 else input.expand_dims(0)
        sizes, (n, c) = x.shape[2:], x.shape[:2]
        parts = self.output_size or tuple(int(size * ratio) for size, ratio in zip(sizes, self.output_ratio))
        if not x.size:
            empty = ops.zeros((*input.shape[:-rank], *parts), x.dtype)
            return (empty, empty.astype(ms.int64)) if self.return_indices else empty
        samples = ops.rand(n, c, rank) if self._random_samples is None else self._random_samples[:n]
        order = (
            (1, 0) if rank == 2 else (0, 1, 2)
        )  # torch's first sample is for the width in two dimensions, for the depth in three
        flat = ops.zeros((n, c, *[1] * (2 * rank)), ms.int32)
        for axis in range(rank):
            starts = fractional_starts(samples[:, :, order[axis]], sizes[axis], parts[axis], self.kernel_size[axis])
            places = starts.expand_dims(-1) + ops.arange(self.kernel_size[axis]).astype(ms.int32)
            shape = [n, c, *[1] * (2 * rank)]
            shape[2 + axis], shape[2 + rank + axis] = parts[axis], self.kernel_size[axis]
            flat = flat * sizes[axis] + places.reshape(tuple(shape))
        flat = flat.reshape((n, c, -1))
        values = ops.gather_elements(x.reshape((n, c, -1)), 2, flat).reshape((n, c, *parts, -1))
        best = ops.argmax(values, -1).astype(ms.int32).expand_dims(-1)
        result = ops.gather_elements(values, values.ndim - 1, best).squeeze(-1)
        indices = ops.gather_elements(flat.reshape(values.shape), values.ndim - 1, best).squeeze(-1).astype(ms.int64)
        if input.ndim != rank + 2:
            result, indices = result.squeeze(0), indices.squeeze(0)
        return (result, indices) if self.return_indices else result


class FractionalMaxPool2d(FractionalMaxPool):
    """torch.nn.FractionalMaxPool2d."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__(2, kernel_size, output_size, output_ratio, return_indices, _random_samples)


class FractionalMaxPool3d(FractionalMaxPool):
    """torch.nn.FractionalMaxPool3d."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__(3, kernel_size, output_size, output_ratio, return_indices, _random_samples)
