"""Padding layers with torch's arguments."""

from mindspore import nn, ops

from .functional_conv import pad_pairs
from .layers_conv import pad_edges, spread


class Pad(nn.Cell):
    """Pads the last axes: (left, right, top, bottom, front, back)."""

    def __init__(self, rank, padding, mode="constant", value=0.0):
        super().__init__()
        self.padding, self.mode, self.value = spread(padding, 2 * rank), mode, value

    def construct(self, input):
        if self.mode == "constant" and min(self.padding) < 0:  # ops.pad crops rightly only the first time
            return pad_pairs(input, self.padding, "constant", self.value)
        if self.mode == "constant":
            return ops.pad(input, self.padding, "constant", self.value)
        return pad_edges(input, self.padding, self.mode)


class ReflectionPad1d(Pad):
    """torch.nn.ReflectionPad1d."""

    def __init__(self, padding):
        super().__init__(1, padding, "reflect")


class ReflectionPad2d(Pad):
    """torch.nn.ReflectionPad2d."""

    def __init__(self, padding):
        super().__init__(2, padding, "reflect")


class ReflectionPad3d(Pad):
    """torch.nn.ReflectionPad3d."""

    def __init__(self, padding):
        super().__init__(3, padding, "reflect")


class ReplicationPad1d(Pad):
    """torch.nn.ReplicationPad1d."""

    def __init__(self, padding):
        super().__init__(1, padding, "replicate")


class ReplicationPad2d(Pad):
    """torch.nn.ReplicationPad2d."""

    def __init__(self, padding):
        super().__init__(2, padding, "replicate")


class ReplicationPad3d(Pad):
    """torch.nn.ReplicationPad3d."""

    def __init__(self, padding):
        super().__init__(3, padding, "replicate")


class CircularPad1d(Pad):
    """torch.nn.CircularPad1d."""

    def __init__(self, padding):
        super().__init__(1, padding, "circular")


class CircularPad2d(Pad):
    """torch.nn.CircularPad2d."""

    def __init__(self, padding):
        super().__init__(2, padding, "circular")


class CircularPad3d(Pad):
    """torch.nn.CircularPad3d."""

    def __init__(self, padding):
        super().__init__(3, padding, "circular")


class ZeroPad1d(Pad):
    """torch.nn.ZeroPad1d."""

    def __init__(self, padding):
        super().__init__(1, padding)


class ZeroPad2d(Pad):
    """torch.nn.ZeroPad2d."""

    def __init__(self, padding):
        super().__init__(2, padding)


class ZeroPad3d(Pad):
    """torch.nn.ZeroPad3d."""

    def __init__(self, padding):
        super().__init__(3, padding)


class ConstantPad1d(Pad):
    """torch.nn.ConstantPad1d."""

    def __init__(self, padding, value):
        super().__init__(1, padding, "constant", value)


class ConstantPad2d(Pad):
    """torch.nn.ConstantPad2d."""

    def __init__(self, padding, value):
        super().__init__(2, padding, "constant", value)


class ConstantPad3d(Pad):
    """torch.nn.ConstantPad3d."""

    def __init__(self, padding, value):
        super().__init__(3, padding, "constant", value)
