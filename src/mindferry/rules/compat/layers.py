"""Layers with torch's arguments."""

import mindspore as ms
from mindspore import nn, ops


class ReLU(nn.ReLU):
    """torch.nn.ReLU: takes inplace, which has no meaning here."""

    def __init__(self, inplace=False):
        super().__init__()


class Linear(nn.Dense):
    """mindspore.nn.Dense with torch's arguments."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__(in_features, out_features, has_bias=bool(bias), dtype=dtype or ms.float32)
        self.in_features, self.out_features = in_features, out_features


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
        pair = padding if isinstance(padding, (tuple, list)) else (padding, padding)
        is_named = isinstance(padding, str)
        self_padded = padding_mode != "zeros" and not is_named
        pads = 0 if is_named or self_padded else (pair[0], pair[0], pair[1], pair[1])
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode=padding if is_named else "pad",
            padding=pads,
            dilation=dilation,
            group=groups,
            has_bias=bool(bias),
            dtype=dtype or ms.float32,
        )
        self.groups = groups
        self.padding_mode = padding_mode
        self.edge_padding = (pair[1], pair[1], pair[0], pair[0]) if self_padded else None

    def construct(self, x):
        if self.edge_padding is not None:
            mode = {"reflect": "reflect", "replicate": "replicate", "circular": "circular"}[self.padding_mode]
            x = ops.pad(x, self.edge_padding, mode=mode)
        return super().construct(x)


class BatchNorm2d(nn.BatchNorm2d):
    """mindspore.nn.BatchNorm2d with torch's arguments: momentum is the share of the new value."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__(num_features, eps, 1 - momentum, affine, use_batch_statistics=None if track_running_stats else True)
