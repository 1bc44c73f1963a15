"""torchmetrics' metrics that read a table of wanted and given classes, and those counted by class beyond the commonest."""

import mindspore as ms
import numpy as np

from .metrics import CountedMetric, Metric, as_array, ratio


class Specificity(CountedMetric):
    """How many of those that don't belong there were left out."""

    def score(self, right, wrong, right_not, missed):
        return ratio(right_not, right_not + wrong)


class HammingDistance(CountedMetric):
    """How many answers are wrong."""

    def score(self, right, wrong, right_not, missed):
        if self.task == "multiclass":
            return 1 - ratio(right, right + missed)
        return 1 - ratio(right + right_not, right + wrong + right_not + missed)


class FBetaScore(CountedMetric):
    """Precision and recall in one number, recall beta times as important."""

    def __init__(self, task="multiclass", beta=1.0, threshold=0.5, **options):
        super().__init__(task, threshold, **options)
        self.beta = beta

    def score(self, right, wrong, right_not, missed):
        square = self.beta**2
        return ratio((1 + square) * right, (1 + square) * right + square * missed + wrong, self.zero_division)


class ConfusionMatrix(Metric):
    """How often each class was given for each wanted one; by label, for several labels."""

    def __init__(
        self,
        task="multiclass",
        threshold=0.5,
        num_classes=None,
        num_labels=None,
        normalize=None,
        ignore_index=None,
        validate_args=True,
        **options,
    ):
        super().__init__(**options)
        self.task, self.threshold, self.normalize, self.ignore_index = task, threshold, normalize, ignore_index
        self.size = num_classes if task == "multiclass" else 2
        self.labels = num_labels

    def measure(self, preds, target):
        preds, target = as_array(preds), as_array(target)
        if self.task == "multiclass":
            preds = preds.argmax(1) if preds.ndim == target.ndim + 1 else preds
        elif np.issubdtype(preds.dtype, np.floating):
            if preds.size and (preds.min() < 0 or preds.max() > 1):
                preds = 1 / (1 + np.exp(-preds.astype(np.float64)))
            preds = preds > self.threshold
        if self.task == "multilabel":
            preds, target = (np.moveaxis(each, 1, -1).reshape(-1, self.labels).T for each in (preds, target))
            return [np.stack([self.table(*each) for each in zip(preds, target)])]
        return [self.table(preds.reshape(-1), target.reshape(-1))]

    def table(self, preds, target):
        kept = np.ones(target.shape, bool) if self.ignore_index is None else target != self.ignore_index
        at = target[kept].astype(np.int64) * self.size + preds[kept].astype(np.int64)
        return np.bincount(at, minlength=self.size**2).reshape(self.size, self.size).astype(np.float64)

    def value(self, kept):
        (table,) = kept
        axes = {"true": -1, "pred": -2, "all": (-2, -1)}
        if self.normalize in axes:
            return ratio(table, np.broadcast_to(table.sum(axes[self.normalize], keepdims=True), table.shape))
        return table

    def tensor(self, value):
        kind = np.int64 if self.normalize in (None, "none") else np.float32
        return ms.Tensor(np.asarray(value).astype(kind))


class ScoreOfTable(ConfusionMatrix):
    """One number of a confusion matrix."""

    def tensor(self, value):
        return ms.Tensor(np.asarray(value, np.float32))


class JaccardIndex(ScoreOfTable):
    """What was given and wanted, of what was given or wanted."""

    def __init__(self, task="multiclass", *arguments, average="macro", zero_division=0, **options):
        super().__init__(task, *arguments, **options)
        self.average, self.nothing = average, zero_division

    def value(self, kept):
        (table,) = kept
        if self.task == "multilabel":
            right, whole = table[:, 1, 1], table.sum((1, 2)) - table[:, 0, 0]
        else:
            right = np.diagonal(table)
            whole = table.sum(0) + table.sum(1) - right
        if self.task == "binary":
            return ratio(right[1], whole[1], self.nothing)
        counted = np.ones(len(whole))
        if self.ignore_index in range(len(table)):
            counted[self.ignore_index] = 0  # it may have been given, though it was never wanted
        if self.average == "micro":
            return ratio(right.sum(), (counted * whole).sum(), self.nothing)
        scores = ratio(right, whole, self.nothing)
        if self.average in (None, "none"):
            return scores
        wanted = table[:, 1].sum(-1) if self.task == "multilabel" else table.sum(1)
        weights = wanted if self.average == "weighted" else counted
        if self.average == "macro" and self.task == "multiclass":
            weights = weights * (whole != 0)  # classes that never came up
        return ratio((weights * scores).sum(), weights.sum())


class CohenKappa(ScoreOfTable):
    """How far the answers agree beyond chance."""

    def __init__(self, task="multiclass", *arguments, weights=None, **options):
        super().__init__(task, *arguments, **options)
        self.weights = weights

    def value(self, kept):
        (table,) = kept
        chance = np.outer(table.sum(1), table.sum(0)) / table.sum()
        apart = np.abs(np.subtract.outer(np.arange(self.size), np.arange(self.size))).astype(np.float64)
        cost = {"linear": apart, "quadratic": apart**2}.get(self.weights, (apart > 0).astype(np.float64))
        return 1 - ratio((cost * table).sum(), (cost * chance).sum())


class MatthewsCorrCoef(ScoreOfTable):
    """The correlation of given and wanted classes."""

    def value(self, kept):
        (table,) = kept
        table = table.sum(0) if table.ndim == 3 else table
        given, wanted, whole = table.sum(0), table.sum(1), table.sum()
        over = np.trace(table) * whole - given @ wanted
        under = (whole**2 - given @ given) * (whole**2 - wanted @ wanted)
        return over / under**0.5 if under else 0.0
