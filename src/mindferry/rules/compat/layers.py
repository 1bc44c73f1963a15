"""Layers with torch's arguments."""

import mindspore as ms
from mindspore import nn


class ReLU(nn.ReLU):
    """torch.nn.ReLU: takes inplace, which has no meaning here."""

    def __init__(self, inplace=False):
        super().__init__()


class Linear(nn.Dense):
    """mindspore.nn.Dense with torch's arguments."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__(in_features, out_features, has_bias=bool(bias), dtype=dtype or ms.float32)
        self.in_features, self.out_features = in_features, out_features


class BatchNorm2d(nn.BatchNorm2d):
    """mindspore.nn.BatchNorm2d with torch's arguments: momentum is the share of the new value."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__(num_features, eps, 1 - momentum, affine, use_batch_statistics=None if track_running_stats else True)
