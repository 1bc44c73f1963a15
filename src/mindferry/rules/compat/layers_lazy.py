"""Lazy layers: they wait for their first input to learn how wide it is, and are built then."""

from mindspore import nn

from .layers import Linear
from .layers_conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d


class Lazy(nn.Cell):
    """A layer whose first argument is the size of `axis` in its first input. Run it once before giving its parameters to an optimizer."""

    def __init__(self, build, axis, *args, **kwargs):
        super().__init__()
        self.build, self.axis, self.arguments, self.options = build, axis, args, kwargs
        self.inner = None

    def construct(self, *inputs):
        if self.inner is None:
            self.inner = self.build(inputs[0].shape[self.axis], *self.arguments, **self.options).set_train(self.training)
        return self.inner(*inputs)


class LazyLinear(Lazy):
    """torch.nn.LazyLinear."""

    def __init__(self, *args, **kwargs):
        super().__init__(Linear, -1, *args, **kwargs)


class LazyConv1d(Lazy):
    """torch.nn.LazyConv1d."""

    def __init__(self, *args, **kwargs):
        super().__init__(Conv1d, -2, *args, **kwargs)


class LazyConvTranspose1d(Lazy):
    """torch.nn.LazyConvTranspose1d."""

    def __init__(self, *args, **kwargs):
        super().__init__(ConvTranspose1d, -2, *args, **kwargs)


class LazyBatchNorm1d(Lazy):
    """torch.nn.LazyBatchNorm1d."""

    def __init__(self, *args, **kwargs):
        super().__init__(BatchNorm1d, 1, *args, **kwargs)


class LazyInstanceNorm1d(Lazy):
    """torch.nn.LazyInstanceNorm1d."""

    def __init__(self, *args, **kwargs):
        super().__init__(InstanceNorm1d, -2, *args, **kwargs)


class LazyConv2d(Lazy):
    """torch.nn.LazyConv2d."""

    def __init__(self, *args, **kwargs):
        super().__init__(Conv2d, -3, *args, **kwargs)


class LazyConvTranspose2d(Lazy):
    """torch.nn.LazyConvTranspose2d."""

    def __init__(self, *args, **kwargs):
        super().__init__(ConvTranspose2d, -3, *args, **kwargs)


class LazyBatchNorm2d(Lazy):
    """torch.nn.LazyBatchNorm2d."""

    def __init__(self, *args, **kwargs):
        super().__init__(BatchNorm2d, 1, *args, **kwargs)


class LazyInstanceNorm2d(Lazy):
    """torch.nn.LazyInstanceNorm2d."""

    def __init__(self, *args, **kwargs):
        super().__init__(InstanceNorm2d, -3, *args, **kwargs)


class LazyConv3d(Lazy):
    """torch.nn.LazyConv3d."""

    def __init__(self, *args, **kwargs):
        super().__init__(Conv3d, -4, *args, **kwargs)


class LazyConvTranspose3d(Lazy):
    """torch.nn.LazyConvTranspose3d."""

    def __init__(self, *args, **kwargs):
        super().__init__(ConvTranspose3d, -4, *args, **kwargs)


class LazyBatchNorm3d(Lazy):
    """torch.nn.LazyBatchNorm3d."""

    def __init__(self, *args, **kwargs):
        super().__init__(BatchNorm3d, 1, *args, **kwargs)


class LazyInstanceNorm3d(Lazy):
    """torch.nn.LazyInstanceNorm3d."""

    def __init__(self, *args, **kwargs):
        super().__init__(InstanceNorm3d, -4, *args, **kwargs)
