"""Losses for projects whose tensors hold no -inf and are never empty: MindSpore's own functions. losses.py has all of them."""

from mindspore import nn, ops

from .layers_module import register_buffer


class ShortCrossEntropyLoss(nn.Cell):
    """torch.nn.CrossEntropyLoss. (MindSpore's own layer refuses int64 labels, which its function takes.)"""

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
    ):
        super().__init__()
        self.ignore_index, self.reduction, self.label_smoothing = ignore_index, reduction, label_smoothing
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)

    def construct(self, input, target):
        return ops.cross_entropy(input, target, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class ShortNLLLoss(nn.Cell):
    """torch.nn.NLLLoss."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__()
        self.ignore_index, self.reduction = ignore_index, reduction
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)

    def construct(self, input, target):
        return ops.nll_loss(input, target, self.weight, self.ignore_index, self.reduction)
