"""torchmetrics' commonest metrics: counted over batches with update() or a call, read with compute(), emptied with reset()."""

import copy

import mindspore as ms
import numpy as np
from mindspore import nn


class Metric(nn.Cell):
    """torchmetrics.Metric. A subclass keeps what add() adds up, and says in value() what that amounts to."""

    def __init__(self, **options):
        super().__init__(auto_prefix=False)
        self.last = None  # what the last call returned
        self.kept = None

    def measure(self, *inputs):
        """What a batch counts for: arrays that can be added up."""
        raise NotImplementedError

    def value(self, kept):
        raise NotImplementedError

    def add(self, kept, more):
        return more if kept is None else [a + b for a, b in zip(kept, more)]

    def update(self, *inputs):
        self.kept = self.add(self.kept, self.measure(*inputs))

    def __call__(self, *inputs):
        """Count the batch, and return its own value."""
        more = self.measure(*inputs)
        self.kept = self.add(self.kept, more)
        self.last = self.tensor(self.value(more))
        return self.last

    def compute(self):
        if self.kept is None:
            raise ValueError(f"{type(self).__name__}.compute() was called before update()")
        return self.tensor(self.value(self.kept))

    def tensor(self, value):
        return ms.Tensor(np.asarray(value, np.float32))

    def reset(self):
        self.kept = self.last = None


def as_array(value):
    return value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)


class MeanMetric(Metric):
    """The mean of all values, each with its weight."""

    def measure(self, value, weight=1.0):
        value = as_array(value).astype(np.float64)
        weight = np.broadcast_to(as_array(weight).astype(np.float64), value.shape)
        return [(value * weight).sum(), weight.sum()]

    def value(self, kept):
        return kept[0] / kept[1]


class SumMetric(Metric):
    """The sum of all values."""

    def measure(self, value):
        return [as_array(value).astype(np.float64).sum()]

    def value(self, kept):
        return kept[0]


class MaxMetric(SumMetric):
    """The largest value."""

    def measure(self, value):
        return [as_array(value).max()]

    def add(self, kept, more):
        return more if kept is None else [max(kept[0], more[0])]


class MinMetric(SumMetric):
    """The smallest value."""

    def measure(self, value):
        return [as_array(value).min()]

    def add(self, kept, more):
        return more if kept is None else [min(kept[0], more[0])]


class MeanSquaredError(MeanMetric):
    """The mean of squared differences; its root if squared=False."""

    def __init__(self, squared=True, num_outputs=1, **options):
        super().__init__()
        if num_outputs != 1:
            raise NotImplementedError("MeanSquaredError: one output; take a metric for each")
        self.squared = squared

    def measure(self, preds, target):
        difference = as_array(preds).astype(np.float64) - as_array(target)
        return [(difference**2).sum(), difference.size]

    def value(self, kept):
        return kept[0] / kept[1] if self.squared else (kept[0] / kept[1]) ** 0.5


class MeanAbsoluteError(MeanMetric):
    """The mean of absolute differences."""

    def measure(self, preds, target):
        difference = as_array(preds).astype(np.float64) - as_array(target)
        return [np.abs(difference).sum(), difference.size]


class CountedMetric(Metric):
    """Metrics of the right and wrong answers for each class: what they are is said by score()."""

    def __init__(
        self,
        task="multiclass",
        threshold=0.5,
        num_classes=None,
        num_labels=None,
        average="micro",
        multidim_average="global",
        top_k=1,
        ignore_index=None,
        validate_args=True,
        **options,
    ):
        super().__init__()
        if task not in ("binary", "multiclass", "multilabel") or multidim_average != "global":
            raise NotImplementedError(f"{type(self).__name__}: task={task!r}, multidim_average={multidim_average!r}")
        self.task, self.threshold, self.average, self.ignore_index = task, threshold, average, ignore_index
        self.top_k = top_k or 1
        self.count = {"binary": 1, "multiclass": num_classes, "multilabel": num_labels}[task]

    def measure(self, preds, target):
        """Right and wrong positives, right and wrong negatives, by class."""
        preds, target = as_array(preds), as_array(target)
        if self.task == "multiclass":
            preds = self.answers(preds, target) if preds.ndim == target.ndim + 1 else preds
            preds, target = preds.reshape(-1), target.reshape(-1)
            counted = np.ones(target.shape, bool) if self.ignore_index is None else target != self.ignore_index
            classes = np.arange(self.count)
            preds, target = preds[counted, None] == classes, target[counted, None] == classes
            counted = np.ones(preds.shape, bool)
        else:
            if np.issubdtype(preds.dtype, np.floating):
                if preds.size and (preds.min() < 0 or preds.max() > 1):
                    preds = 1 / (1 + np.exp(-preds.astype(np.float64)))
                preds = preds > self.threshold
            if self.task == "multilabel":
                preds, target = (np.moveaxis(each, 1, -1) for each in (preds, target))
            preds, target = preds.reshape(-1, self.count) == 1, target.reshape(-1, self.count)
            counted = np.ones(target.shape, bool) if self.ignore_index is None else target != self.ignore_index
            target = target == 1
        pairs = ((preds, target), (preds, ~target), (~preds, ~target), (~preds, target))
        return [(a & b & counted).sum(0).astype(np.float64) for a, b in pairs]

    def answers(self, scores, target):
        """The class with the highest score; with top_k, the wanted one where it is among the k highest."""
        if self.top_k == 1:
            return scores.argmax(1)
        best = np.argsort(-scores, axis=1, kind="stable")
        best = np.moveaxis(best, 1, -1)[..., : self.top_k]
        return np.where((best == target[..., None]).any(-1), target, best[..., 0])

    def value(self, kept):
        right, wrong, right_not, missed = kept
        if self.task == "binary":
            return self.score(*(each[0] for each in kept))
        if self.average == "micro":
            return self.score(*(each.sum() for each in kept))
        scores = self.score(right, wrong, right_not, missed)
        if self.average in (None, "none"):
            return scores
        weights = right + missed if self.average == "weighted" else np.ones(self.count)
        if self.average == "macro" and self.task == "multiclass":
            weights = weights * (right + wrong + missed != 0)  # classes that never came up
        return ratio((weights * scores).sum(), weights.sum())


def ratio(part, whole):
    """part / whole, 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) != 0)


class Accuracy(CountedMetric):
    """How many answers are right."""

    def score(self, right, wrong, right_not, missed):
        if self.task == "multiclass":
            return ratio(right, right + missed)
        return ratio(right + right_not, right + wrong + right_not + missed)


class F1Score(CountedMetric):
    """The harmonic mean of precision and recall."""

    def score(self, right, wrong, right_not, missed):
        return ratio(2 * right, 2 * right + wrong + missed)


class Precision(CountedMetric):
    """How many of those that were found belong there."""

    def score(self, right, wrong, right_not, missed):
        return ratio(right, right + wrong)


class Recall(CountedMetric):
    """How many of those that belong there were found."""

    def score(self, right, wrong, right_not, missed):
        return ratio(right, right + missed)


def accuracy(preds, target, task, **options):
    """torchmetrics.functional.accuracy."""
    return Accuracy(task, **options)(preds, target)


def f1_score(preds, target, task, **options):
    """torchmetrics.functional.f1_score."""
    return F1Score(task, **options)(preds, target)


class MetricCollection(nn.Cell):
    """Several metrics that count the same batches, by name."""

    def __init__(self, metrics, *others, prefix=None, postfix=None, compute_groups=True):
        super().__init__(auto_prefix=False)
        given = metrics if isinstance(metrics, (dict, list, tuple)) else [metrics, *others]
        named = sorted(given.items()) if isinstance(given, dict) else [(type(each).__name__, each) for each in given]
        self.metrics = dict(named)
        self.prefix, self.postfix = prefix or "", postfix or ""

    def items(self, *arguments, **options):
        return [(f"{self.prefix}{name}{self.postfix}", each) for name, each in self.metrics.items()]

    def __getitem__(self, name):
        return dict(self.items()).get(name) or self.metrics[name]

    def __call__(self, *inputs):
        return {name: each(*inputs) for name, each in self.items()}

    def update(self, *inputs):
        for each in self.metrics.values():
            each.update(*inputs)

    def compute(self):
        return {name: each.compute() for name, each in self.items()}

    def reset(self):
        for each in self.metrics.values():
            each.reset()

    def clone(self, prefix=None, postfix=None):
        made = MetricCollection([], prefix=prefix or self.prefix, postfix=postfix or self.postfix)
        made.metrics = {name: copy.deepcopy(each) for name, each in self.metrics.items()}
        return made
