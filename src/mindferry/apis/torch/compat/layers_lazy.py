"""Lazy layers: they wait for their first input to learn how wide it is, and are built then."""

from mindspore import nn

from .layers import Linear
from .layers_conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d


class Lazy:
    """Comes before a layer's class: builds the layer when the first input tells the size of `axis`, its first argument.

    Run the network once before its parameters go to an optimizer or a checkpoint is loaded.
    """

    axis = -1

    def __init__(self, *args, **kwargs):
        nn.Cell.__init__(self)
        self.waiting = (args, kwargs)

    def construct(self, input):
        if self.waiting is not None:
            is_training, (args, kwargs) = self.training, self.waiting
            super().__init__(input.shape[self.axis], *args, **kwargs)
            self.waiting = None
            self.set_train(is_training)
        return super().construct(input)


class LazyLinear(Lazy, Linear):
    """torch.nn.LazyLinear."""

    axis = -1


class LazyConv1d(Lazy, Conv1d):
    """torch.nn.LazyConv1d."""

    axis = -2


class LazyConvTranspose1d(Lazy, ConvTranspose1d):
    """torch.nn.LazyConvTranspose1d."""

    axis = -2


class LazyBatchNorm1d(Lazy, BatchNorm1d):
    """torch.nn.LazyBatchNorm1d."""

    axis = 1


class LazyInstanceNorm1d(Lazy, InstanceNorm1d):
    """torch.nn.LazyInstanceNorm1d."""

    axis = -2


class LazyConv2d(Lazy, Conv2d):
    """torch.nn.LazyConv2d."""

    axis = -3


class LazyConvTranspose2d(Lazy, ConvTranspose2d):
    """torch.nn.LazyConvTranspose2d."""

    axis = -3


class LazyBatchNorm2d(Lazy, BatchNorm2d):
    """torch.nn.LazyBatchNorm2d."""

    axis = 1


class LazyInstanceNorm2d(Lazy, InstanceNorm2d):
    """torch.nn.LazyInstanceNorm2d."""

    axis = -3


class LazyConv3d(Lazy, Conv3d):
    """torch.nn.LazyConv3d."""

    axis = -4


class LazyConvTranspose3d(Lazy, ConvTranspose3d):
    """torch.nn.LazyConvTranspose3d."""

    axis = -4


class LazyBatchNorm3d(Lazy, BatchNorm3d):
    """torch.nn.LazyBatchNorm3d."""

    axis = 1


class LazyInstanceNorm3d(Lazy, InstanceNorm3d):
    """torch.nn.LazyInstanceNorm3d."""

    axis = -4
