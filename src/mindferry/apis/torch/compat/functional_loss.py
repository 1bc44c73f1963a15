"""Loss functions, with torch's arguments and int64 labels."""

import math

import mindspore as ms
import numpy as np
from mindspore import ops

from .functional_conv import linear
from .functional_norm import log1p, log1p_exp, pairwise_distance
from .functions_special import xlogy


def reduced(loss, reduction, size_average=None, reduce=None):
    """mean, sum or none; the two older arguments too."""
    if reduce is False:
        reduction = "none"
    elif size_average is not None or reduce is not None:
        reduction = "sum" if size_average is False else "mean"
    if reduction == "none":
        return loss
    if not loss.size:  # MindSpore can't add up nothing
        return ops.zeros((), loss.dtype) if reduction == "sum" else ops.zeros((), loss.dtype) + float("nan")
    return ops.sum(loss) if reduction == "sum" else ops.sum(loss) / loss.size


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """torch.nn.functional.mse_loss."""
    loss = ops.square(input - target)
    return reduced(loss if weight is None else loss * weight, reduction, size_average, reduce)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """torch.nn.functional.l1_loss."""
    loss = ops.abs(input - target)
    return reduced(loss if weight is None else loss * weight, reduction, size_average, reduce)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """torch.nn.functional.smooth_l1_loss."""
    gap = ops.abs(input - target)
    loss = gap if beta == 0 else ops.where(gap < beta, ops.square(gap) / (2 * beta), gap - beta / 2)
    return reduced(loss, reduction, size_average, reduce)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """torch.nn.functional.huber_loss."""
    gap = ops.abs(input - target)
    loss = ops.where(gap <= delta, ops.square(gap) / 2, delta * (gap - delta / 2))
    return reduced(loss if weight is None else loss * weight, reduction)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.binary_cross_entropy: at 0 and 1, logarithms are -100 and the gradient is finite, as in torch."""
    spread_ = input * (1 - input)
    is_edge = spread_ < 1e-12
    inner = ops.where(is_edge, ops.full_like(input, 0.5), input)
    loss = -(target * ops.log(inner) + (1 - target) * log1p(-inner))
    logs = [ops.clamp(ops.log(ops.stop_gradient(each)), min=-100) for each in (input, 1 - input)]
    slope = ops.stop_gradient(input - target) / 1e-12
    edge = -(target * logs[0] + (1 - target) * logs[1]) + slope * (input - ops.stop_gradient(input))
    loss = ops.where(is_edge, edge, loss)
    return reduced(loss if weight is None else loss * weight, reduction, size_average, reduce)


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """torch.nn.functional.binary_cross_entropy_with_logits."""
    spread_ = log1p_exp(-input)
    scale = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * input + scale * spread_
    return reduced(loss if weight is None else loss * weight, reduction, size_average, reduce)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """torch.nn.functional.nll_loss."""
    axis = 0 if input.ndim == 1 else 1
    is_kept = target != ignore_index
    safe = ops.where(is_kept, target, ops.zeros_like(target)).astype(ms.int64)
    if not input.size or not target.size:
        return reduced(ops.zeros(target.shape, input.dtype), reduction, size_average, reduce)
    picked = ops.gather_elements(input, axis, safe.unsqueeze(axis)).squeeze(axis)
    scale = is_kept.astype(input.dtype)
    if weight is not None:
        scale = scale * ops.gather(weight, safe.reshape(-1), 0).reshape(safe.shape)
    loss = -picked * scale
    is_mean = (
        reduction == "mean"
        if size_average is None and reduce is None
        else size_average is not False and reduce is not False
    )
    return mean_of_kept(loss, scale) if is_mean else reduced(loss, reduction, size_average, reduce)


def mean_of_kept(loss, scale):
    """The mean by weight; where nothing is kept it is NaN, and has no gradient that would spoil the weights."""
    total = scale.sum()
    is_void = total == 0
    mean = loss.sum() / ops.where(is_void, ops.ones_like(total), total)
    return ops.where(is_void, ops.full_like(total, float("nan")), mean)


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    """torch.nn.functional.cross_entropy: class numbers or probabilities."""
    axis = 0 if input.ndim == 1 else 1
    logs = ops.log_softmax(input, axis) if input.size else input
    shape = (-1,) + (1,) * (input.ndim - 1 - axis)
    if target.shape == input.shape and target.is_floating_point():
        goal = target * (1 - label_smoothing) + label_smoothing / input.shape[axis] if label_smoothing else target
        scaled_ = logs if weight is None else logs * weight.reshape(shape)
        loss = -(goal * scaled_).sum(axis=axis)
        return loss.sum() / (loss.size or 1) if reduction == "mean" else reduced(loss, reduction)
    hard = nll_loss(logs, target, weight, size_average, ignore_index, reduce, reduction)
    if not label_smoothing:
        return hard
    is_kept = (target != ignore_index).astype(input.dtype)
    smooth = -(logs if weight is None else logs * weight.reshape(shape)).sum(axis=axis) * is_kept
    if reduction == "mean":
        if weight is None:
            smooth = mean_of_kept(smooth, is_kept)
        else:
            safe = ops.where(target != ignore_index, target, ops.zeros_like(target)).astype(ms.int64)
            smooth = mean_of_kept(smooth, ops.gather(weight, safe.reshape(-1), 0).reshape(safe.shape) * is_kept)
    else:
        smooth = reduced(smooth, reduction)
    return (1 - label_smoothing) * hard + label_smoothing / input.shape[axis] * smooth


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """torch.nn.functional.linear_cross_entropy: the weight's first axis holds the classes."""
    rows = linear_weight.reshape(-1, linear_weight.shape[-1])
    logits = linear(input, rows, None if linear_bias is None else linear_bias.reshape(-1))
    logits = logits.reshape(input.shape[:-1] + linear_weight.shape[:-1])
    return cross_entropy(
        logits, target, weight, None, -100 if ignore_index is None else ignore_index, None, reduction, label_smoothing
    )


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """torch.nn.functional.kl_div."""
    loss = ops.exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / (input.shape[0] if input.ndim else 1)
    return reduced(loss, reduction, size_average, reduce)


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean"
):
    """torch.nn.functional.poisson_nll_loss."""
    loss = ops.exp(input) - target * input if log_input else input - target * ops.log(input + eps)
    if full:
        is_large = target > 1
        safe = ops.where(is_large, target, ops.ones_like(target))
        stirling = safe * ops.log(safe) - safe + 0.5 * ops.log(2 * math.pi * safe)
        loss = loss + ops.where(is_large, stirling, ops.zeros_like(target))
    return reduced(loss, reduction, size_average, reduce)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean"):
    """torch.nn.functional.gaussian_nll_loss: the variance is at least eps, which has no gradient."""
    spread_ = ops.full_like(input, var) if not isinstance(var, ms.Tensor) else var
    if spread_.ndim == input.ndim - 1:
        spread_ = spread_.unsqueeze(-1)
    spread_ = spread_ + ops.stop_gradient(ops.clamp(spread_, min=eps) - spread_)
    loss = 0.5 * (ops.log(spread_) + ops.square(input - target) / spread_)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.soft_margin_loss."""
    return reduced(log1p(ops.exp(-target * input)), reduction, size_average, reduce)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.hinge_embedding_loss."""
    apart = ops.where(target != 1, ops.clamp(margin - input, min=0), ops.zeros_like(input))
    close = ops.where(target != -1, input, ops.zeros_like(input))
    return reduced(apart + close, reduction, size_average, reduce)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.margin_ranking_loss."""
    return reduced(ops.clamp(-target * (input1 - input2) + margin, min=0), reduction, size_average, reduce)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.cosine_embedding_loss."""
    eps = 1e-12
    product_ = (input1 * input2).sum(axis=-1)
    sizes_ = (ops.square(input1).sum(axis=-1) + eps) * (ops.square(input2).sum(axis=-1) + eps)
    cosine = product_ / ops.sqrt(sizes_)
    together = ops.where(target == 1, 1 - cosine, ops.zeros_like(cosine))
    apart = ops.where(target == -1, ops.clamp(cosine - margin, min=0), ops.zeros_like(cosine))
    return reduced(together + apart, reduction, size_average, reduce)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.multi_margin_loss."""
    x = input.reshape(1, -1) if input.ndim < 2 else input
    labels = target.reshape(-1).astype(ms.int64)
    own = ops.gather_elements(x, 1, labels.unsqueeze(1))
    gap = ops.relu(margin - own + x)
    gap = gap if p == 1 else ops.square(gap)
    gap = gap if weight is None else gap * ops.gather(weight, labels, 0).unsqueeze(1)
    others = (ops.arange(x.shape[1]).reshape(1, -1) != labels.unsqueeze(1)).astype(x.dtype)
    loss = (gap * others).sum(axis=1) / x.shape[1]
    return reduced(loss.reshape(()) if input.ndim < 2 and target.ndim == 0 else loss, reduction, size_average, reduce)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.multilabel_margin_loss: the labels end at the first -1."""
    x = input.reshape(1, -1) if input.ndim < 2 else input
    labels = target.reshape(x.shape)
    is_label = ops.cumsum((labels < 0).astype(ms.int32), 1) == 0
    safe = ops.where(is_label, labels, ops.zeros_like(labels)).astype(ms.int64)
    classes = ops.arange(x.shape[1]).reshape(1, 1, -1)
    is_target = ops.logical_and(safe.unsqueeze(2) == classes, is_label.unsqueeze(2)).any(axis=1)
    own = ops.gather_elements(x, 1, safe)
    gap = ops.relu(1 - (own.unsqueeze(2) - x.unsqueeze(1)))
    counted = ops.logical_and(is_label.unsqueeze(2), ops.logical_not(is_target).unsqueeze(1)).astype(x.dtype)
    loss = (gap * counted).sum(axis=(1, 2)) / x.shape[1]
    return reduced(loss.reshape(()) if input.ndim < 2 else loss, reduction, size_average, reduce)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """torch.nn.functional.multilabel_soft_margin_loss."""
    loss = -(target * ops.logsigmoid(input) + (1 - target) * ops.logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return reduced(loss.sum(axis=-1) / input.shape[-1], reduction, size_average, reduce)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean"
):
    """torch.nn.functional.triplet_margin_loss."""
    return triplet_loss(
        anchor,
        positive,
        negative,
        lambda a, b: pairwise_distance(a, b, p, eps),
        margin,
        swap,
        reduced_as(reduction, size_average, reduce),
    )


def reduced_as(reduction, size_average, reduce):
    if size_average is None and reduce is None:
        return reduction
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def triplet_loss(anchor, positive, negative, distance, margin, swap, reduction):
    close, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    return reduced(ops.clamp(close - far + margin, min=0), reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """torch.nn.functional.triplet_margin_with_distance_loss."""
    return triplet_loss(anchor, positive, negative, distance_function or pairwise_distance, margin, swap, reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """torch.nn.functional.ctc_loss: the forward algorithm over the whole batch, step by step."""
    logs = log_probs.unsqueeze(1) if log_probs.ndim == 2 else log_probs
    steps, counts = (
        np.array(each.asnumpy() if isinstance(each, ms.Tensor) else each).reshape(-1)
        for each in (input_lengths, target_lengths)
    )
    rows = targets.asnumpy()
    ends = np.cumsum(counts)
    labels = np.full((len(counts), max(int(counts.max(initial=0)), 0)), blank)
    for sample, count in enumerate(counts):
        start = ends[sample] - count
        labels[sample, :count] = rows[sample, :count] if rows.ndim == 2 else rows[start : start + count]
    loss = ctc_normal(logs, steps) - ctc_scores(logs, labels, steps, counts, blank)
    if zero_infinity:
        loss = ops.where(ops.isinf(loss), ops.zeros_like(loss), loss)
    if reduction == "mean":
        return (loss / ms.Tensor(np.maximum(counts, 1).astype(np.float32)).astype(loss.dtype)).mean()
    loss = reduced(loss, reduction)
    return loss.squeeze(0) if log_probs.ndim == 2 and reduction == "none" else loss


def ctc_normal(logs, steps):
    """Zero. torch's gradient assumes that log_probs come from log_softmax; this carries the part that then cancels out."""
    fixed = ops.stop_gradient(logs)
    within = ms.Tensor((np.arange(logs.shape[0])[:, None] < steps).astype(np.float32)).unsqueeze(2)
    return (ops.exp(fixed) * (logs - fixed) * within).sum(axis=(0, 2))


def ctc_scores(logs, labels, steps, counts, blank):
    """The log likelihood of each sample's labels."""
    batch, size = labels.shape[0], 2 * labels.shape[1] + 1
    path = np.full((batch, size), blank)
    path[:, 1::2] = labels
    emitted = ops.gather_elements(
        logs, 2, ms.Tensor(np.broadcast_to(path, (logs.shape[0], batch, size)).astype(np.int32))
    )
    before = np.concatenate((np.full((batch, 2), -1), path[:, :-2]), 1)
    jump = ms.Tensor(np.where((path != blank) & (path != before), 0, -np.inf).astype(np.float32))
    begin = ms.Tensor(np.where(np.arange(size) < 2, 0, -np.inf).astype(np.float32))
    impossible = ops.full((batch, 2), float("-inf"), dtype=logs.dtype)
    score = emitted[0] + begin
    for step in range(1, int(steps.max())):
        padded = ops.cat((impossible, score), 1)
        moved = emitted[step] + _log_sum(ops.stack((score, padded[:, 1:-1], padded[:, :-2] + jump)))
        score = ops.where(ms.Tensor(step < steps).reshape(-1, 1), moved, score)
    places = np.stack((2 * counts, np.maximum(2 * counts - 1, 0)), 1)
    last = ops.gather_elements(score, 1, ms.Tensor(places.astype(np.int32)))
    last = ops.where(ms.Tensor(np.stack((counts >= 0, counts > 0), 1)), last, ops.full_like(last, float("-inf")))
    return _log_sum(ops.swapaxes(last, 0, 1))


def _log_sum(x):
    top = ops.stop_gradient(ops.amax(x, 0))
    safe = ops.where(ops.isinf(top), ops.zeros_like(top), top)
    total = ops.exp(x - safe).sum(axis=0)
    is_zero = total == 0
    return ops.where(
        is_zero, ops.full_like(total, float("-inf")), ops.log(ops.where(is_zero, ops.ones_like(total), total)) + safe
    )


def reduction_number(reduction):
    """torch.nn._reduction.get_enum."""
    if reduction not in ("none", "mean", "elementwise_mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """torch.nn._reduction.legacy_get_string: what the two older arguments mean."""
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """torch.nn._reduction.legacy_get_enum."""
    return reduction_number(legacy_get_string(size_average, reduce))
