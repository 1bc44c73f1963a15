"""Losses of sequences, of embeddings, and one for labels that may be wrong."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .activations import log_softmax, softplus
from .losses import FunctionLoss
from .products import product
from .tensors import as_tensor

IMPOSSIBLE = -1e30  # the logarithm of zero that gradients can be taken of


def log_sum(x, axis):
    """The logarithm of a sum of exponentials."""
    top = ops.stop_gradient(ops.amax(x, axis, True))
    return ops.squeeze(ops.log(ops.sum(ops.exp(x - top), axis, True)) + top, axis)


def ctc(y_true, y_pred):
    """Labels (batch, length) with zeros behind them, logits (batch, steps, classes); class 0 is the blank."""
    labels = as_tensor(y_true).asnumpy().astype(np.int32)
    logs = log_softmax(as_tensor(y_pred))
    batch, size = labels.shape[0], 2 * labels.shape[1] + 1
    path = np.zeros((batch, size), np.int32)
    path[:, 1::2] = labels
    two_before = np.concatenate((np.full((batch, 2), -1), path[:, :-2]), 1)
    jump = Tensor(np.where((path != 0) & (path != two_before), 0, IMPOSSIBLE).astype(np.float32))
    begin = Tensor(np.where(np.arange(size) < 2, 0, IMPOSSIBLE).astype(np.float32))
    outside = ops.full((batch, 2), IMPOSSIBLE, dtype=logs.dtype)
    score = None
    for step in range(logs.shape[1]):
        emitted = ops.gather_elements(logs[:, step], 1, Tensor(path))
        if score is None:
            score = emitted + begin
            continue
        padded = ops.cat((outside, score), 1)
        score = emitted + log_sum(ops.stack((score, padded[:, 1:-1], padded[:, :-2] + jump)), 0)
    counts = (labels != 0).sum(1)
    ends = np.stack((2 * counts, np.maximum(2 * counts - 1, 0)), 1).astype(np.int32)
    is_end = np.stack((counts >= 0, counts > 0), 1)
    last = ops.gather_elements(score, 1, Tensor(ends)) + Tensor(np.where(is_end, 0, IMPOSSIBLE).astype(np.float32))
    loss = -log_sum(last, 1)
    return ops.where(loss > -IMPOSSIBLE / 2, ops.full_like(loss, float("inf")), loss)


def circle(y_true, y_pred, ref_labels=None, ref_embeddings=None, remove_diagonal=True, gamma=80, margin=0.4):
    """Labels, and embeddings of length one: near to those of their own label, far from the others."""
    y_pred, labels = as_tensor(y_pred), ops.reshape(ops.cast(as_tensor(y_true), ms.int32), (-1, 1))
    others = y_pred if ref_embeddings is None else as_tensor(ref_embeddings)
    other_labels = labels if ref_labels is None else ops.cast(as_tensor(ref_labels), ms.int32)
    is_same = ops.equal(labels, ops.reshape(other_labels, (1, -1)))
    is_other = ops.logical_not(is_same)
    if remove_diagonal:
        is_same = ops.logical_and(is_same, Tensor(~np.eye(*is_same.shape, dtype=bool)))
    distance = ops.relu(1 - product(y_pred, ops.swapaxes(others, 0, 1)))
    near = -gamma * ops.relu(margin + distance) * (margin - distance)
    far = gamma * ops.relu(1 + margin - distance) * (1 - margin - distance)
    none = ops.full_like(distance, IMPOSSIBLE)
    loss = softplus(log_sum(ops.where(is_same, near, none), 1) + log_sum(ops.where(is_other, far, none), 1))
    loss._keras_mask = ops.stop_gradient(loss) > 0
    return loss


def categorical_generalized_cross_entropy(y_true, y_pred, q=0.5):
    """Labels as numbers."""
    y_pred = as_tensor(y_pred)
    labels = ops.cast(as_tensor(y_true), ms.int32)
    labels = ops.squeeze(labels, -1) if labels.ndim == y_pred.ndim else labels
    chosen = ops.one_hot(labels, y_pred.shape[-1], as_tensor(1.0, y_pred.dtype), as_tensor(0.0, y_pred.dtype), -1)
    return (1 - ops.pow(ops.sum(y_pred * chosen, -1), q)) / q


class CTC(FunctionLoss):
    function = staticmethod(ctc)


class Circle(FunctionLoss):
    function, names = staticmethod(circle), ("gamma", "margin", "remove_diagonal")


class CategoricalGeneralizedCrossEntropy(FunctionLoss):
    function, names = staticmethod(categorical_generalized_cross_entropy), ("q",)
