"""Metrics from counts of right and wrong decisions."""

import numpy as np

from .metrics import Metric, aligned, numbers_of
from .tensors import Calls, as_tensor


class Decisions(Metric):
    """True and false positives and negatives at some thresholds."""

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(dtype, name)
        given = 0.5 if thresholds is None else thresholds
        self.thresholds = np.atleast_1d(np.asarray(given, np.float64))
        self.is_single, self.top_k, self.class_id = np.ndim(given) == 0 or len(given) == 1, top_k, class_id
        self.counts = np.zeros((4, len(self.thresholds)))

    def update_state(self, y_true, y_pred, sample_weight=None):
        if Calls.is_rehearsal:
            return
        y_true, y_pred = aligned(y_true, y_pred)
        if self.top_k is not None:
            least = np.sort(y_pred, -1)[..., -self.top_k][..., None]
            y_pred = np.where(y_pred >= least, y_pred, -np.inf)
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        weight = np.ones(y_true.shape) if sample_weight is None else numbers_of(sample_weight).astype(np.float64)
        while weight.ndim < y_true.ndim:
            weight = weight[..., None]
        truth, weight = (y_true.reshape(-1) > 0)[:, None], np.broadcast_to(weight, y_true.shape).reshape(-1)[:, None]
        guess = y_pred.reshape(-1)[:, None] > self.thresholds[None]
        parts = (truth & guess, ~truth & guess, ~truth & ~guess, truth & ~guess)
        self.counts += np.stack([(each * weight).sum(0) for each in parts])

    def reset_state(self):
        super().reset_state()
        self.counts[:] = 0

    def shown(self, values):
        return as_tensor(np.float32(values[0]) if self.is_single else values.astype(np.float32))


def quotient(a, b):
    return np.where(b > 0, a / np.where(b > 0, b, 1), 0.0)


class Precision(Decisions):
    def result(self):
        return self.shown(quotient(self.counts[0], self.counts[0] + self.counts[1]))


class Recall(Decisions):
    def result(self):
        return self.shown(quotient(self.counts[0], self.counts[0] + self.counts[3]))


class TruePositives(Decisions):
    def result(self):
        return self.shown(self.counts[0])


class FalsePositives(Decisions):
    def result(self):
        return self.shown(self.counts[1])


class TrueNegatives(Decisions):
    def result(self):
        return self.shown(self.counts[2])


class FalseNegatives(Decisions):
    def result(self):
        return self.shown(self.counts[3])


class AUC(Decisions):
    """The area under the ROC or the precision-recall curve, from thresholds as Keras spaces them."""

    def __init__(
        self,
        num_thresholds=200,
        curve="ROC",
        summation_method="interpolation",
        name=None,
        dtype=None,
        thresholds=None,
        multi_label=False,
        num_labels=None,
        label_weights=None,
        from_logits=False,
    ):
        if multi_label or label_weights is not None:
            raise NotImplementedError("AUC has one curve for all labels here: keep one metric a label")
        inner = (
            [(place + 1) / (num_thresholds - 1) for place in range(num_thresholds - 2)]
            if thresholds is None
            else sorted(thresholds)
        )
        super().__init__([-1e-7, *inner, 1 + 1e-7], name=name)
        self.curve, self.summation_method, self.from_logits = curve.upper(), summation_method.lower(), from_logits

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = numbers_of(y_pred)
        super().update_state(y_true, 1 / (1 + np.exp(-y_pred)) if self.from_logits else y_pred, sample_weight)

    def result(self):
        tp, fp, tn, fn = self.counts
        recall = quotient(tp, tp + fn)
        if self.curve == "ROC":
            return self.area(quotient(fp, fp + tn), recall)
        if self.summation_method != "interpolation":
            return self.area(recall, quotient(tp, tp + fp))
        found, step = tp[:-1] - tp[1:], (tp + fp)[:-1] - (tp + fp)[1:]
        slope = quotient(found, np.maximum(step, 0))
        at = tp[1:] - slope * (tp + fp)[1:]
        ratio = np.where(
            ((tp + fp)[:-1] > 0) & ((tp + fp)[1:] > 0), quotient((tp + fp)[:-1], np.maximum((tp + fp)[1:], 0)), 1.0
        )
        area = slope * (found + at * np.log(ratio))
        return as_tensor(np.float32(quotient(area, np.maximum(tp[1:] + fn[1:], 0)).sum()))

    def area(self, x, y):
        """Below the curve: of rectangles under it, over it, or of trapezoids."""
        pairs = np.stack((y[:-1], y[1:]))
        heights = {"minoring": pairs.min(0), "majoring": pairs.max(0)}.get(self.summation_method, pairs.mean(0))
        return as_tensor(np.float32(((x[:-1] - x[1:]) * heights).sum()))


class BestAtLimit(Decisions):
    """The largest value of one quotient at thresholds at which another reaches a limit."""

    def __init__(self, limit, num_thresholds=200, class_id=None, name=None, dtype=None):
        inner = [(place + 1) / (num_thresholds - 1) for place in range(num_thresholds - 2)]
        super().__init__(0.5 if num_thresholds == 1 else [-1e-7, *inner, 1.0], class_id=class_id, name=name)
        self.limit = limit

    def best(self, limited, wanted):
        return as_tensor(np.float32(np.where(limited >= self.limit, wanted, 0.0).max(initial=0.0)))

    def quotients(self):
        """Precision, recall (sensitivity) and specificity at each threshold."""
        tp, fp, tn, fn = self.counts
        return quotient(tp, tp + fp), quotient(tp, tp + fn), quotient(tn, tn + fp)


class SensitivityAtSpecificity(BestAtLimit):
    def __init__(self, specificity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(specificity, num_thresholds, class_id, name)

    def result(self):
        _, sensitivity, specificity = self.quotients()
        return self.best(specificity, sensitivity)


class SpecificityAtSensitivity(BestAtLimit):
    def __init__(self, sensitivity, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(sensitivity, num_thresholds, class_id, name)

    def result(self):
        _, sensitivity, specificity = self.quotients()
        return self.best(sensitivity, specificity)


class PrecisionAtRecall(BestAtLimit):
    def __init__(self, recall, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(recall, num_thresholds, class_id, name)

    def result(self):
        precision, recall, _ = self.quotients()
        return self.best(recall, precision)


class RecallAtPrecision(BestAtLimit):
    def __init__(self, precision, num_thresholds=200, class_id=None, name=None, dtype=None):
        super().__init__(precision, num_thresholds, class_id, name)

    def result(self):
        precision, recall, _ = self.quotients()
        return self.best(precision, recall)
