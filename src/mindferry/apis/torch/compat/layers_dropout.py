"""Dropout with torch's arguments."""

import math

from mindspore import nn, ops


class Dropout(nn.Dropout):
    """mindspore.nn.Dropout whose first argument is the share that is dropped."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(p=float(p))


class ChannelDropout(nn.Cell):
    """Drops whole channels: everything after the axis that comes `rank` axes before the end."""

    def __init__(self, rank, p=0.5, inplace=False):
        super().__init__()
        self.rank, self.p = rank, float(p)

    def construct(self, input):
        if not self.training or self.p == 0:
            return input
        if self.p == 1:
            return input * 0
        mask = ops.rand(*input.shape[: input.ndim - self.rank]) >= self.p
        return input * mask.astype(input.dtype).reshape((*mask.shape, *[1] * self.rank)) / (1 - self.p)


class Dropout1d(ChannelDropout):
    """torch.nn.Dropout1d."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(1, p)


class Dropout2d(ChannelDropout):
    """torch.nn.Dropout2d."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(2, p)


class Dropout3d(ChannelDropout):
    """torch.nn.Dropout3d."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(3, p)


class AlphaDropout(nn.Cell):
    """torch.nn.AlphaDropout: keeps mean and variance of what SELU gives."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        self.p = float(p)

    def mask_shape(self, shape):
        return shape

    def construct(self, input):
        if not self.training or self.p == 0:
            return input
        dropped = -1.7580993408473766
        scale = 1 / math.sqrt((1 - self.p) * (1 + self.p * dropped * dropped)) if self.p < 1 else 0.0
        kept = (ops.rand(*self.mask_shape(input.shape)) >= self.p).astype(input.dtype)
        return scale * (input * kept + dropped * (1 - kept) - self.p * dropped)


class FeatureAlphaDropout(AlphaDropout):
    """torch.nn.FeatureAlphaDropout: whole channels."""

    def mask_shape(self, shape):
        return (*shape[:2], *[1] * (len(shape) - 2))
