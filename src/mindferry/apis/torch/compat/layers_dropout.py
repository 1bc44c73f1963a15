"""Dropout with torch's arguments."""

import math

from mindspore import nn, ops


class Dropout(nn.Dropout):
    """mindspore.nn.Dropout whose first argument is the share that is dropped; all of it, too."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(p=float(p) if p < 1 else 0.5)
        self.p = float(p)

    def construct(self, input):
        if self.training and self.p == 1:
            return input * 0
        return nn.Dropout.construct(self, input)


class ChannelDropout(nn.Cell):
    """Drops whole channels, the second axis; the first one of an input without a batch, which has `unbatched` axes."""

    def __init__(self, unbatched, p=0.5, inplace=False):
        super().__init__()
        self.unbatched, self.p = unbatched, float(p)

    def construct(self, input):
        if not self.training or self.p == 0:
            return input
        if self.p == 1:
            return input * 0
        lead = 1 if input.ndim == self.unbatched else 2
        mask = ops.rand(*input.shape[:lead]) >= self.p
        return input * mask.astype(input.dtype).reshape((*mask.shape, *[1] * (input.ndim - lead))) / (1 - self.p)


class Dropout1d(ChannelDropout):
    """torch.nn.Dropout1d."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(2, p)


class Dropout2d(ChannelDropout):
    """torch.nn.Dropout2d: three axes are a batch of channels with one axis each, as torch has it."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(None, p)


class Dropout3d(ChannelDropout):
    """torch.nn.Dropout3d."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__(4, p)


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


DROPOUTS = (nn.Dropout, ChannelDropout, AlphaDropout)
