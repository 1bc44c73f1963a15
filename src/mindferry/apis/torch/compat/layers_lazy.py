"""Lazy layers: they wait for their first input to learn how wide it is, and are built then."""

from mindspore import nn

from .layers import Linear
from .layers_conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d


class Lazy:
    """Comes before a layer's class: builds the layer when its first argument is known, from the first input's `axis` or from a checkpoint.

    Run the network once, or load a checkpoint, before its parameters go to an optimizer.
    """

    axis = -1

    def __init__(self, *args, **kwargs):
        nn.Cell.__init__(self)
        self.waiting = (args, kwargs)

    def construct(self, input):
        if self.waiting is not None:
            self.build(input.shape[self.axis])
        return super().construct(input)

    def build(self, size):
        is_training, (args, kwargs) = self.training, self.waiting
        super().__init__(size, *args, **kwargs)
        self.waiting = None
        self.set_train(is_training)

    def build_from(self, state):
        """Build the layer for a checkpoint's entries, by the layer's own names."""
        size = self.size_in(state) if self.waiting is not None and state else None
        if size is not None:
            self.build(size)

    def size_in(self, state):
        """The features that a checkpoint's entries are for."""
        return state["weight"].shape[1] if "weight" in state else None

    def _load_from_state_dict(self, state_dict, prefix, *others):
        self.build_from({name[len(prefix) :]: each for name, each in state_dict.items() if name.startswith(prefix)})
        super()._load_from_state_dict(state_dict, prefix, *others)


class LazyConv(Lazy):
    """A convolution's weight holds the channels of one group."""

    def size_in(self, state):
        args, kwargs = self.waiting
        groups = kwargs.get("groups", args[5] if len(args) > 5 else 1)
        return state["weight"].shape[1] * groups if "weight" in state else None


class LazyConvTranspose(Lazy):
    """A transposed convolution's weight has the incoming channels first."""

    def size_in(self, state):
        return state["weight"].shape[0] if "weight" in state else None


class LazyNorm(Lazy):
    """Whatever a norm keeps, it keeps a number for each channel."""

    def size_in(self, state):
        sizes = [each.shape[0] for each in state.values() if len(each.shape) == 1]
        return sizes[0] if sizes else None


class LazyLinear(Lazy, Linear):
    """torch.nn.LazyLinear."""

    axis = -1


class LazyConv1d(LazyConv, Conv1d):
    """torch.nn.LazyConv1d."""

    axis = -2


class LazyConvTranspose1d(LazyConvTranspose, ConvTranspose1d):
    """torch.nn.LazyConvTranspose1d."""

    axis = -2


class LazyBatchNorm1d(LazyNorm, BatchNorm1d):
    """torch.nn.LazyBatchNorm1d."""

    axis = 1


class LazyInstanceNorm1d(LazyNorm, InstanceNorm1d):
    """torch.nn.LazyInstanceNorm1d."""

    axis = -2


class LazyConv2d(LazyConv, Conv2d):
    """torch.nn.LazyConv2d."""

    axis = -3


class LazyConvTranspose2d(LazyConvTranspose, ConvTranspose2d):
    """torch.nn.LazyConvTranspose2d."""

    axis = -3


class LazyBatchNorm2d(LazyNorm, BatchNorm2d):
    """torch.nn.LazyBatchNorm2d."""

    axis = 1


class LazyInstanceNorm2d(LazyNorm, InstanceNorm2d):
    """torch.nn.LazyInstanceNorm2d."""

    axis = -3


class LazyConv3d(LazyConv, Conv3d):
    """torch.nn.LazyConv3d."""

    axis = -4


class LazyConvTranspose3d(LazyConvTranspose, ConvTranspose3d):
    """torch.nn.LazyConvTranspose3d."""

    axis = -4


class LazyBatchNorm3d(LazyNorm, BatchNorm3d):
    """torch.nn.LazyBatchNorm3d."""

    axis = 1


class LazyInstanceNorm3d(LazyNorm, InstanceNorm3d):
    """torch.nn.LazyInstanceNorm3d."""

    axis = -4
