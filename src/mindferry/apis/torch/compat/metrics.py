"""torchmetrics' commonest metrics: counted over batches with update() or a call, read with compute(), emptied with reset()."""

import copy
import inspect
import warnings

import mindspore as ms
import numpy as np
from mindspore import mint, nn


class Metric(nn.Cell):
    """torchmetrics.Metric. A subclass keeps what add() adds up, and says in value() what that amounts to."""

    # Options of processes and devices, which change no count.
    HARMLESS = (
        "compute_on_cpu compute_with_cache dist_sync_fn dist_sync_on_step distributed_available_fn process_group "
        "sync_on_compute validate_args compute_on_step"
    ).split()

    def __init__(self, **options):
        super().__init__(auto_prefix=False)
        if unknown := sorted(set(options) - set(self.HARMLESS)):
            raise NotImplementedError(f"{type(self).__name__}: {unknown[0]}; leave it out, or count yourself")
        self.last = None  # what the last call returned
        self.kept = None
        self.update_count = 0

    @property
    def title(self):
        """torchmetrics' name of the class, by which a collection calls it."""
        return f"{getattr(self, 'task', '').capitalize()}{type(self).__name__}"

    def measure(self, *inputs):
        """What a batch counts for: arrays that can be added up."""
        raise NotImplementedError

    def value(self, kept):
        raise NotImplementedError

    def add(self, kept, more):
        return more if kept is None else [a + b for a, b in zip(kept, more)]

    def update(self, *inputs, **named):
        self.count_batch(self.measure(*inputs, **named))

    def count_batch(self, more):
        self.update_count += 1
        self.kept = self.add(self.kept, more)

    def __call__(self, *inputs, **named):
        """Count the batch, and return its own value."""
        more = self.measure(*inputs, **named)
        self.count_batch(more)
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
        self.update_count = 0


def as_array(value):
    return value.asnumpy() if isinstance(value, ms.Tensor) else np.asarray(value)


class Aggregate(Metric):
    """Of values as they are; what is not a number is left out, unless nan_strategy says otherwise."""

    def __init__(self, nan_strategy="warn", **options):
        super().__init__(**options)
        self.nan_strategy = nan_strategy

    def numbers(self, value, weight=1.0):
        value = np.array(as_array(value), np.float64)
        weight = np.array(np.broadcast_to(as_array(weight).astype(np.float64), value.shape))
        odd = np.isnan(value) | np.isnan(weight)
        if self.nan_strategy == "disable" or not odd.any():
            return value, weight
        if self.nan_strategy == "error":
            raise RuntimeError("Encountered `nan` values in tensor")
        if self.nan_strategy == "warn":
            warnings.warn("Encountered `nan` values in tensor. Will be removed.", UserWarning, stacklevel=4)
        if self.nan_strategy in ("ignore", "warn"):
            return value[~odd], weight[~odd]
        value[odd], weight[odd] = self.nan_strategy, 1
        return value, weight


class MeanMetric(Aggregate):
    """The mean of all values, each with its weight."""

    def measure(self, value, weight=1.0):
        value, weight = self.numbers(value, weight)
        return [(value * weight).sum(), weight.sum()]

    def value(self, kept):
        return kept[0] / kept[1] if kept[1] else np.nan


class SumMetric(Aggregate):
    """The sum of all values."""

    def measure(self, value):
        return [self.numbers(value)[0].sum()]

    def value(self, kept):
        return kept[0]


class MaxMetric(SumMetric):
    """The largest value."""

    def measure(self, value):
        return [self.numbers(value)[0].max(initial=-np.inf)]

    def add(self, kept, more):
        return more if kept is None else [max(kept[0], more[0])]


class MinMetric(SumMetric):
    """The smallest value."""

    def measure(self, value):
        return [self.numbers(value)[0].min(initial=np.inf)]

    def add(self, kept, more):
        return more if kept is None else [min(kept[0], more[0])]


class MeanSquaredError(MeanMetric):
    """The mean of squared differences; its root if squared=False."""

    def __init__(self, squared=True, num_outputs=1, **options):
        super().__init__(**options)
        if num_outputs != 1:
            raise NotImplementedError("MeanSquaredError: one output; take a metric for each")
        self.squared = squared

    def __call__(self, preds, target):
        super().__call__(preds, target)
        error = mint.mean(mint.square(preds - target))  # it may be a loss
        self.last = error if self.squared else mint.sqrt(error)
        return self.last

    def measure(self, preds, target):
        difference = as_array(preds).astype(np.float64) - as_array(target)
        return [(difference**2).sum(), difference.size]

    def value(self, kept):
        return kept[0] / kept[1] if self.squared else (kept[0] / kept[1]) ** 0.5


class MeanAbsoluteError(MeanMetric):
    """The mean of absolute differences."""

    def __init__(self, num_outputs=1, **options):
        super().__init__(**options)
        if num_outputs != 1:
            raise NotImplementedError("MeanAbsoluteError: one output; take a metric for each")

    def __call__(self, preds, target):
        super().__call__(preds, target)
        self.last = mint.mean(mint.abs(preds - target))  # it may be a loss
        return self.last

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
        zero_division=0,
        **options,
    ):
        super().__init__(**options)
        if task not in ("binary", "multiclass", "multilabel") or multidim_average != "global":
            raise NotImplementedError(f"{type(self).__name__}: task={task!r}, multidim_average={multidim_average!r}")
        self.task, self.threshold, self.average, self.ignore_index = task, threshold, average, ignore_index
        self.top_k, self.zero_division = top_k or 1, zero_division
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
            given = wrong if self.top_k == 1 else 0
            weights = weights * (right + given + missed != 0)  # classes that never came up
        return ratio((weights * scores).sum(), weights.sum())


def ratio(part, whole, nothing=0):
    """part / whole, and something else where there is nothing."""
    return np.divide(part, whole, out=np.full(np.shape(whole), float(nothing)), where=np.asarray(whole) != 0)


class Accuracy(CountedMetric):
    """How many answers are right."""

    def score(self, right, wrong, right_not, missed):
        if self.task == "multiclass":
            return ratio(right, right + missed)
        return ratio(right + right_not, right + wrong + right_not + missed)


class F1Score(CountedMetric):
    """The harmonic mean of precision and recall."""

    def score(self, right, wrong, right_not, missed):
        return ratio(2 * right, 2 * right + wrong + missed, self.zero_division)


class Precision(CountedMetric):
    """How many of those that were found belong there."""

    def score(self, right, wrong, right_not, missed):
        return ratio(right, right + wrong, self.zero_division)


class Recall(CountedMetric):
    """How many of those that belong there were found."""

    def score(self, right, wrong, right_not, missed):
        return ratio(right, right + missed, self.zero_division)


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
        self.metrics, self.prefix, self.postfix = {}, prefix or "", postfix or ""
        self.add_metrics(metrics, *others)

    def add_metrics(self, metrics, *others):
        is_named = isinstance(metrics, dict)
        given = metrics if isinstance(metrics, (list, tuple)) else [metrics, *others]
        for key, each in sorted(metrics.items()) if is_named else [("", each) for each in given]:
            if isinstance(each, MetricCollection):
                self.metrics.update({f"{key}_{name}" if key else name: inner for name, inner in each.items()})
                continue
            name = key or getattr(each, "title", type(each).__name__)
            if name in self.metrics and not is_named:
                raise ValueError(f"Encountered two metrics both named {name}")
            self.metrics[name] = each

    def items(self, keep_base=False, copy_state=True):
        return [
            (name if keep_base else f"{self.prefix}{name}{self.postfix}", each) for name, each in self.metrics.items()
        ]

    def keys(self, keep_base=False):
        return [name for name, _ in self.items(keep_base)]

    def values(self, copy_state=True):
        return list(self.metrics.values())

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.metrics)

    def __bool__(self):
        return True

    def __contains__(self, name):
        return name in self.metrics

    def __getitem__(self, name):
        return self.metrics[name] if name in self.metrics else dict(self.items())[name]

    def __call__(self, *inputs, **named):
        return results_by_name((name, each(*inputs, **arguments_counted(each, named))) for name, each in self.items())

    def update(self, *inputs, **named):
        for each in self.metrics.values():
            each.update(*inputs, **arguments_counted(each, named))

    def compute(self):
        return results_by_name((name, each.compute()) for name, each in self.items())

    def reset(self):
        for each in self.metrics.values():
            each.reset()

    def clone(self, prefix=None, postfix=None):
        made = MetricCollection([], prefix=prefix or self.prefix, postfix=postfix or self.postfix)
        made.metrics = {name: copy.deepcopy(each) for name, each in self.metrics.items()}
        return made


def arguments_counted(metric, named):
    """Of the arguments that are given by name, those that a metric counts with."""
    counts = inspect.signature(getattr(metric, "measure", metric.update)).parameters
    has_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in counts.values())
    return named if has_all else {name: value for name, value in named.items() if name in counts}


def results_by_name(results):
    """By name; a metric that gives several values by name adds those."""
    found = {}
    for name, value in results:
        found.update(value if isinstance(value, dict) else {name: value})
    return found
