"""Scores a class: the F scores, how much of a variance is explained, and correlations."""

import numpy as np

from .metrics import MeanMetricWrapper, Metric, aligned, numbers_of
from .tensors import Calls, as_tensor


class FBetaScore(Metric):
    """Of labels and predictions (batch, classes); without a threshold, the largest prediction counts."""

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        super().__init__(dtype, name)
        self.average, self.beta, self.threshold, self.counts = average, beta, threshold, 0.0

    def update_state(self, y_true, y_pred, sample_weight=None):
        if Calls.is_rehearsal:
            return
        truth, scores = numbers_of(y_true).astype(np.float64), numbers_of(y_pred)
        if self.threshold is None:
            guess = (scores >= scores.max(-1, keepdims=True)) & (np.abs(scores) > 1e-9)
        else:
            guess = scores > self.threshold
        weight = 1.0 if sample_weight is None else numbers_of(sample_weight).reshape(-1, 1)
        parts = (guess * truth, guess * (1 - truth), (1 - guess) * truth, truth)
        axis = None if self.average == "micro" else 0
        self.counts = self.counts + np.stack([(each * weight).sum(axis) for each in parts])

    def result(self):
        found, wrong, missed, true = self.counts
        precision, recall = found / (found + wrong + 1e-7), found / (found + missed + 1e-7)
        score = (1 + self.beta**2) * precision * recall / (self.beta**2 * precision + recall + 1e-7)
        if self.average == "weighted":
            score = (score * true / (true.sum() + 1e-7)).sum()
        elif self.average is not None:
            score = score.mean()
        return as_tensor(np.asarray(score, np.float32))

    def reset_state(self):
        super().reset_state()
        self.counts = 0.0


class F1Score(FBetaScore):
    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average, 1.0, threshold, name)


class R2Score(Metric):
    def __init__(self, class_aggregation="uniform_average", num_regressors=0, name="r2_score", dtype=None):
        super().__init__(dtype, name)
        self.class_aggregation, self.num_regressors, self.sums, self.count = class_aggregation, num_regressors, 0.0, 0

    def update_state(self, y_true, y_pred, sample_weight=None):
        if Calls.is_rehearsal:
            return
        y_true, y_pred = (each.astype(np.float64) for each in aligned(y_true, y_pred))
        weight = np.ones(()) if sample_weight is None else numbers_of(sample_weight)
        weight = np.broadcast_to(weight[:, None] if weight.ndim == 1 else weight, y_true.shape)
        parts = (y_true * weight, y_true**2 * weight, (y_true - y_pred) ** 2 * weight, weight)
        self.sums = self.sums + np.stack([each.sum(0) for each in parts])
        self.count += y_true.size

    def result(self):
        total, squares, wrong, weights = self.sums
        variance = squares - total * total / weights
        with np.errstate(divide="ignore"):
            scores = 1 - wrong / variance
        scores = np.where(np.isinf(scores), 0.0, scores)
        if self.class_aggregation == "uniform_average":
            scores = scores.mean()
        elif self.class_aggregation == "variance_weighted_average":
            scores = (variance * scores).sum() / variance.sum()
        if 0 < self.num_regressors < self.count - 1:
            scores = 1 - (1 - scores) * (self.count - 1) / (self.count - self.num_regressors - 1)
        return as_tensor(np.asarray(scores, np.float32))

    def reset_state(self):
        super().reset_state()
        self.sums, self.count = 0.0, 0


def pearson_correlation(y_true, y_pred, axis=-1):
    y_true, y_pred = (each - each.mean(axis, keepdims=True) for each in aligned(y_true, y_pred))
    joint = y_true / y_true.std(axis, keepdims=True) * (y_pred / y_pred.std(axis, keepdims=True))
    return as_tensor(joint.mean(axis).astype(np.float32))


def concordance_correlation(y_true, y_pred, axis=-1):
    y_true, y_pred = aligned(y_true, y_pred)
    means = [each.mean(axis, keepdims=True) for each in (y_true, y_pred)]
    spread = y_true.var(axis, keepdims=True) + y_pred.var(axis, keepdims=True) + (means[0] - means[1]) ** 2
    joint = (y_true - means[1]) * (y_pred - means[1])  # Keras takes the predictions' mean from both
    return as_tensor((2 * joint / (spread + 1e-7)).mean(axis).astype(np.float32))


class PearsonCorrelation(MeanMetricWrapper):
    def __init__(self, name="pearson_correlation", dtype=None, axis=-1):
        super().__init__(pearson_correlation, name, axis=axis)


class ConcordanceCorrelation(MeanMetricWrapper):
    def __init__(self, name="concordance_correlation", dtype=None, axis=-1):
        super().__init__(concordance_correlation, name, axis=axis)
