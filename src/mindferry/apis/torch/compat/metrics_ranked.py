"""torchmetrics' metrics of scores that are kept until they are ranked, and those of numbers against numbers."""

import numpy as np

from .metrics import MeanMetric, Metric, as_array, ratio


class RankedMetric(Metric):
    """Keeps every score and answer; what a class against the rest amounts to is said by score()."""

    def __init__(
        self,
        task="multiclass",
        thresholds=None,
        num_classes=None,
        num_labels=None,
        average="macro",
        max_fpr=None,
        ignore_index=None,
        validate_args=True,
        **options,
    ):
        super().__init__(**options)
        if thresholds is not None or max_fpr is not None:
            raise NotImplementedError(
                f"{type(self).__name__}: thresholds and max_fpr; leave them out, or count yourself"
            )
        self.task, self.average, self.ignore_index = task, average, ignore_index
        self.count = {"binary": 1, "multiclass": num_classes, "multilabel": num_labels}[task]

    def measure(self, preds, target):
        preds, target = as_array(preds).astype(np.float64), as_array(target)
        if self.task == "binary":
            preds, target = preds.reshape(-1, 1), target.reshape(-1, 1)
        elif self.task == "multilabel":
            preds, target = (np.moveaxis(each, 1, -1).reshape(-1, self.count) for each in (preds, target))
        else:
            preds, target = np.moveaxis(preds, 1, -1).reshape(-1, self.count), target.reshape(-1)
        if preds.size and (preds.min() < 0 or preds.max() > 1):
            if self.task == "multiclass":
                preds = np.exp(preds - preds.max(1, keepdims=True))
                preds = preds / preds.sum(1, keepdims=True)
            else:
                preds = 1 / (1 + np.exp(-preds))
        return [preds.astype(np.float32), target]

    def add(self, kept, more):
        return more if kept is None else [np.concatenate(pair) for pair in zip(kept, more)]

    def value(self, kept):
        preds, target = kept
        if self.task == "multiclass":
            known = np.ones(len(target), bool) if self.ignore_index is None else target != self.ignore_index
            preds, wanted = preds[known], target[known, None] == np.arange(self.count)
            known = np.ones(wanted.shape, bool)
        else:
            known = np.ones(target.shape, bool) if self.ignore_index is None else target != self.ignore_index
            wanted = target == 1
            if self.average == "micro" and self.task == "multilabel":
                preds, wanted, known = (each.reshape(-1, 1) for each in (preds, wanted, known))
        columns = range(preds.shape[1])
        scores = np.array([self.score(preds[known[:, k], k], wanted[known[:, k], k]) for k in columns])
        if len(scores) == 1 and self.task != "multiclass":
            return scores[0]
        if self.average in (None, "none"):
            return scores
        there = ~np.isnan(scores)
        weights = (wanted & known).sum(0).astype(np.float64) if self.average == "weighted" else np.ones(len(scores))
        return ratio((weights * scores)[there].sum(), weights[there].sum())


def ranked_steps(preds, wanted):
    """How many wanted and unwanted ones lie above each threshold, from the highest score down."""
    order = np.argsort(-preds, kind="stable")
    preds, wanted = preds[order], wanted[order]
    last = np.append(np.nonzero(np.diff(preds))[0], len(preds) - 1)
    return np.cumsum(wanted)[last].astype(np.float64), np.cumsum(~wanted)[last].astype(np.float64)


class AUROC(RankedMetric):
    """The area under the curve of hits over false alarms."""

    def score(self, preds, wanted):
        if not len(preds) or wanted.all() or not wanted.any():
            return 0.0
        hits, alarms = ranked_steps(preds, wanted)
        hits, alarms = np.append(0, hits / hits[-1]), np.append(0, alarms / alarms[-1])
        return ((hits[1:] + hits[:-1]) / 2 * np.diff(alarms)).sum()


class AveragePrecision(RankedMetric):
    """The mean precision over all recalls."""

    def score(self, preds, wanted):
        if not wanted.any():
            return np.nan if self.task != "binary" else 0.0
        hits, alarms = ranked_steps(preds, wanted)
        return (np.diff(np.append(0, hits / hits[-1])) * hits / (hits + alarms)).sum()


class KeptNumbers(Metric):
    """Keeps given and wanted numbers."""

    def measure(self, preds, target):
        return [as_array(each).astype(np.float64).reshape(-1) for each in (preds, target)]

    def add(self, kept, more):
        return more if kept is None else [np.concatenate(pair) for pair in zip(kept, more)]


class R2Score(KeptNumbers):
    """How much of the spread is explained."""

    def __init__(self, adjusted=0, multioutput="uniform_average", num_outputs=1, **options):
        super().__init__(**options)
        if adjusted or num_outputs != 1:
            raise NotImplementedError("R2Score: one output, not adjusted; take a metric for each")

    def value(self, kept):
        preds, target = kept
        return 1 - ((target - preds) ** 2).sum() / ((target - target.mean()) ** 2).sum()


class PearsonCorrCoef(KeptNumbers):
    """The correlation of both."""

    def __init__(self, num_outputs=1, **options):
        super().__init__(**options)
        if num_outputs != 1:
            raise NotImplementedError("PearsonCorrCoef: one output; take a metric for each")

    def value(self, kept):
        return np.corrcoef(*kept)[0, 1]


class MeanAbsolutePercentageError(MeanMetric):
    """The mean of differences, each as a share of what was wanted."""

    def measure(self, preds, target):
        preds, target = as_array(preds).astype(np.float64), as_array(target).astype(np.float64)
        return [(np.abs(preds - target) / np.maximum(np.abs(target), 1.17e-06)).sum(), target.size]
