"""Losses as layers with torch's arguments."""

import math

from mindspore import nn

from .functional_loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    ctc_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .layers import Linear
from .layers_module import register_buffer


class Loss(nn.Cell):
    """torch.nn.modules.loss._Loss: a base class that knows its reduction."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        old = size_average is not None or reduce is not None
        self.reduction = (
            ("none" if reduce is False else "sum" if size_average is False else "mean") if old else reduction
        )


class WeightedLoss(Loss):
    """torch.nn.modules.loss._WeightedLoss."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)


class L1Loss(nn.Cell):
    """torch.nn.L1Loss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction

    def construct(self, input, target):
        return l1_loss(input, target, size_average=self.size_average, reduce=self.reduce, reduction=self.reduction)


class MSELoss(nn.Cell):
    """torch.nn.MSELoss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction

    def construct(self, input, target):
        return mse_loss(input, target, size_average=self.size_average, reduce=self.reduce, reduction=self.reduction)


class SmoothL1Loss(nn.Cell):
    """torch.nn.SmoothL1Loss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__()
        self.size_average, self.reduce, self.reduction, self.beta = size_average, reduce, reduction, beta

    def construct(self, input, target):
        return smooth_l1_loss(
            input, target, size_average=self.size_average, reduce=self.reduce, reduction=self.reduction, beta=self.beta
        )


class HuberLoss(nn.Cell):
    """torch.nn.HuberLoss."""

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__()
        self.reduction, self.delta = reduction, delta

    def construct(self, input, target):
        return huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class KLDivLoss(nn.Cell):
    """torch.nn.KLDivLoss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__()
        self.size_average, self.reduce, self.reduction, self.log_target = size_average, reduce, reduction, log_target

    def construct(self, input, target):
        return kl_div(
            input,
            target,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
            log_target=self.log_target,
        )


class BCELoss(nn.Cell):
    """torch.nn.BCELoss."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)

    def construct(self, input, target):
        return binary_cross_entropy(
            input,
            target,
            weight=self.weight,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class BCEWithLogitsLoss(nn.Cell):
    """torch.nn.BCEWithLogitsLoss."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__()
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)
        self.pos_weight = None
        if pos_weight is not None:
            register_buffer(self, "pos_weight", pos_weight)

    def construct(self, input, target):
        return binary_cross_entropy_with_logits(
            input,
            target,
            weight=self.weight,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
            pos_weight=self.pos_weight,
        )


class SoftMarginLoss(nn.Cell):
    """torch.nn.SoftMarginLoss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction

    def construct(self, input, target):
        return soft_margin_loss(
            input, target, size_average=self.size_average, reduce=self.reduce, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(nn.Cell):
    """torch.nn.MultiLabelSoftMarginLoss."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)

    def construct(self, input, target):
        return multilabel_soft_margin_loss(
            input,
            target,
            weight=self.weight,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class HingeEmbeddingLoss(nn.Cell):
    """torch.nn.HingeEmbeddingLoss."""

    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin, self.size_average, self.reduce, self.reduction = margin, size_average, reduce, reduction

    def construct(self, input, target):
        return hinge_embedding_loss(
            input,
            target,
            margin=self.margin,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class MarginRankingLoss(nn.Cell):
    """torch.nn.MarginRankingLoss."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin, self.size_average, self.reduce, self.reduction = margin, size_average, reduce, reduction

    def construct(self, input1, input2, target):
        return margin_ranking_loss(
            input1,
            input2,
            target,
            margin=self.margin,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class CosineEmbeddingLoss(nn.Cell):
    """torch.nn.CosineEmbeddingLoss."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin, self.size_average, self.reduce, self.reduction = margin, size_average, reduce, reduction

    def construct(self, input1, input2, target):
        return cosine_embedding_loss(
            input1,
            input2,
            target,
            margin=self.margin,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class PoissonNLLLoss(nn.Cell):
    """torch.nn.PoissonNLLLoss."""

    def __init__(self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
        super().__init__()
        self.log_input, self.full, self.size_average = log_input, full, size_average
        self.eps, self.reduce, self.reduction = eps, reduce, reduction

    def construct(self, input, target):
        return poisson_nll_loss(
            input,
            target,
            log_input=self.log_input,
            full=self.full,
            size_average=self.size_average,
            eps=self.eps,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class GaussianNLLLoss(nn.Cell):
    """torch.nn.GaussianNLLLoss."""

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__()
        self.full, self.eps, self.reduction = full, eps, reduction

    def construct(self, input, target, var):
        return gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class TripletMarginLoss(nn.Cell):
    """torch.nn.TripletMarginLoss."""

    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.margin, self.norm, self.eps = margin, p, eps
        self.swap, self.size_average, self.reduce, self.reduction = swap, size_average, reduce, reduction

    def construct(self, anchor, positive, negative):
        return triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.norm,
            eps=self.eps,
            swap=self.swap,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(nn.Cell):
    """torch.nn.TripletMarginWithDistanceLoss."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__()
        self.distance_function, self.margin, self.swap, self.reduction = distance_function, margin, swap, reduction

    def construct(self, anchor, positive, negative):
        return triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class NLLLoss(nn.Cell):
    """torch.nn.NLLLoss."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__()
        self.size_average = size_average
        self.ignore_index, self.reduce, self.reduction = ignore_index, reduce, reduction
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)

    def construct(self, input, target):
        return nll_loss(
            input,
            target,
            weight=self.weight,
            size_average=self.size_average,
            ignore_index=self.ignore_index,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class CrossEntropyLoss(nn.Cell):
    """torch.nn.CrossEntropyLoss."""

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
    ):
        super().__init__()
        self.size_average, self.ignore_index = size_average, ignore_index
        self.reduce, self.reduction, self.label_smoothing = reduce, reduction, label_smoothing
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)

    def construct(self, input, target):
        return cross_entropy(
            input,
            target,
            weight=self.weight,
            size_average=self.size_average,
            ignore_index=self.ignore_index,
            reduce=self.reduce,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class MultiLabelMarginLoss(nn.Cell):
    """torch.nn.MultiLabelMarginLoss."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction

    def construct(self, input, target):
        return multilabel_margin_loss(
            input, target, size_average=self.size_average, reduce=self.reduce, reduction=self.reduction
        )


class MultiMarginLoss(nn.Cell):
    """torch.nn.MultiMarginLoss."""

    def __init__(self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.norm, self.margin = p, margin
        self.size_average, self.reduce, self.reduction = size_average, reduce, reduction
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)

    def construct(self, input, target):
        return multi_margin_loss(
            input,
            target,
            p=self.norm,
            margin=self.margin,
            weight=self.weight,
            size_average=self.size_average,
            reduce=self.reduce,
            reduction=self.reduction,
        )


class CTCLoss(nn.Cell):
    """torch.nn.CTCLoss."""

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def construct(self, log_probs, targets, input_lengths, target_lengths):
        return ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class LinearCrossEntropyLoss(nn.Cell):
    """torch.nn.LinearCrossEntropyLoss: a linear layer and cross entropy in one."""

    def __init__(
        self,
        in_features,
        num_classes,
        *,
        out_features=(),
        bias=False,
        device=None,
        dtype=None,
        reduction="mean",
        weight=None,
        ignore_index=None,
        label_smoothing=0.0,
        options=None,
    ):
        super().__init__()
        self.num_classes, self.out_features, self.reduction = num_classes, tuple(out_features), reduction
        self.weight = None
        if weight is not None:
            register_buffer(self, "weight", weight)
        self.ignore_index, self.label_smoothing = -100 if ignore_index is None else ignore_index, label_smoothing
        self.linear = Linear(in_features, num_classes * math.prod(self.out_features), bias)

    def construct(self, input, target):
        logits = self.linear(input)
        if self.out_features:
            logits = logits.reshape((*logits.shape[:-1], self.num_classes, *self.out_features))
        return cross_entropy(
            logits,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class LinearCrossEntropyOptions:
    """torch.nn.LinearCrossEntropyOptions: how torch cuts the computation into chunks, which changes no result."""

    def __init__(self, *args, **kwargs):
        self.options = (args, kwargs)
