"""Max and average pooling with torch's arguments."""

from mindspore import nn


def no_list(value):
    """Sizes that torch takes as a list, MindSpore as a tuple."""
    return tuple(value) if isinstance(value, list) else value


def one_number(value):
    """The size of the only axis, which torch also takes as a pair of brackets around it."""
    return value[0] if isinstance(value, (list, tuple)) else value


class MaxPool1d(nn.MaxPool1d):
    """mindspore.nn.MaxPool1d with torch's arguments: the stride is the kernel unless given."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        kernel_size, stride, padding = one_number(kernel_size), one_number(stride or kernel_size), one_number(padding)
        super().__init__(kernel_size, stride, "pad", padding, dilation, return_indices, ceil_mode)


class MaxPool2d(nn.MaxPool2d):
    """mindspore.nn.MaxPool2d with torch's arguments: the stride is the kernel unless given."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        kernel_size, stride, padding = no_list(kernel_size), no_list(stride or kernel_size), no_list(padding)
        super().__init__(kernel_size, stride, "pad", padding, dilation, return_indices, ceil_mode)
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode  # as torch has them


class MaxPool3d(nn.MaxPool3d):
    """mindspore.nn.MaxPool3d with torch's arguments: the stride is the kernel unless given."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        kernel_size, stride, padding = no_list(kernel_size), no_list(stride or kernel_size), no_list(padding)
        super().__init__(kernel_size, stride, "pad", padding, dilation, return_indices, ceil_mode)
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode  # as torch has them


class AvgPool1d(nn.AvgPool1d):
    """mindspore.nn.AvgPool1d with torch's arguments: the stride is the kernel unless given."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        kernel_size, stride, padding = one_number(kernel_size), one_number(stride or kernel_size), one_number(padding)
        super().__init__(kernel_size, stride, "pad", padding, ceil_mode, count_include_pad)


class AvgPool2d(nn.AvgPool2d):
    """mindspore.nn.AvgPool2d with torch's arguments: the stride is the kernel unless given."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        kernel_size, stride, padding = no_list(kernel_size), no_list(stride or kernel_size), no_list(padding)
        super().__init__(kernel_size, stride, "pad", padding, ceil_mode, count_include_pad, divisor_override)
        self.padding, self.ceil_mode, self.count_include_pad = (
            padding,
            ceil_mode,
            count_include_pad,
        )  # as torch has them
        self.divisor_override = divisor_override


class AvgPool3d(nn.AvgPool3d):
    """mindspore.nn.AvgPool3d with torch's arguments: the stride is the kernel unless given."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        kernel_size, stride, padding = no_list(kernel_size), no_list(stride or kernel_size), no_list(padding)
        super().__init__(kernel_size, stride, "pad", padding, ceil_mode, count_include_pad, divisor_override)
