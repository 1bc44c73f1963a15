"""Keras' metrics: what is collected over batches."""

import mindspore as ms
import numpy as np
from mindspore import Tensor

from .initializers import snake_case
from .losses import (
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine_similarity,
    hinge,
    kl_divergence,
    log_cosh,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from .tensors import Calls, Made, Names, as_tensor, assign


def numbers_of(value):
    return value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)


class Metric(Made):
    """`total` and `count` in double precision; a metric of one's own keeps what it likes."""

    def __init__(self, dtype=None, name=None):
        self.name = name or snake_case(type(self).__name__)
        self.dtype = "float32"
        self.__dict__["_variables"] = []

    def add_variable(self, shape=(), initializer="zeros", dtype=None, name=None, **_):
        from_name = isinstance(shape, str)
        made = ms.Parameter(
            Tensor(np.full(() if from_name else tuple(shape), 1 if initializer == "ones" else 0, np.float32)),
            name=Names.unique(f"{self.name}/{shape if from_name else name}"),
            requires_grad=False,
        )
        self._variables.append(made)
        return made

    add_weight = add_variable

    @property
    def variables(self):
        return self._variables

    def __call__(self, *args, **kwargs):
        self.update_state(*args, **kwargs)
        return self.result()

    def reset_state(self):
        for each in self._variables:
            assign(each, np.zeros(each.shape, np.float32))

    def reset_states(self):
        self.reset_state()


class Mean(Metric):
    def __init__(self, name="mean", dtype=None):
        super().__init__(dtype, name)
        self.total, self.count = 0.0, 0.0

    def update_state(self, values, sample_weight=None):
        if Calls.is_rehearsal:
            return
        values = numbers_of(values).astype(np.float64)
        weight = np.ones_like(values) if sample_weight is None else spread_weights(numbers_of(sample_weight), values)
        self.total += float((values * weight).sum())
        self.count += float(weight.sum())

    def result(self):
        return as_tensor(np.float32(self.total / self.count if self.count else 0.0))

    def reset_state(self):
        super().reset_state()
        self.total, self.count = 0.0, 0.0


def spread_weights(weight, values):
    weight = weight.astype(np.float64)
    while weight.ndim > values.ndim and weight.shape[-1] == 1:
        weight = weight[..., 0]
    while weight.ndim < values.ndim:
        weight = weight[..., None]
    return np.broadcast_to(weight, values.shape)


class Sum(Mean):
    def __init__(self, name="sum", dtype=None):
        super().__init__(name, dtype)

    def result(self):
        return as_tensor(np.float32(self.total))


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name or getattr(fn, "__name__", "metric"))
        self.fn, self.settings = fn, kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        values = self.fn(as_tensor(y_true), as_tensor(y_pred), **self.settings)
        mask = getattr(y_pred, "_keras_mask", None)
        if mask is not None:
            mask = mask.asnumpy()
            sample_weight = mask if sample_weight is None else spread_weights(numbers_of(sample_weight), mask) * mask
        super().update_state(values, sample_weight)


def aligned(y_true, y_pred):
    """As arrays; where only one has a trailing axis of one, the other gets it if it has one axis, otherwise it goes."""
    y_true, y_pred = numbers_of(y_true), numbers_of(y_pred)
    if y_true.ndim == y_pred.ndim + 1 and y_true.shape[-1] == 1:
        return (y_true, y_pred[:, None]) if y_pred.ndim == 1 else (y_true[..., 0], y_pred)
    if y_pred.ndim == y_true.ndim + 1 and y_pred.shape[-1] == 1:
        return (y_true[:, None], y_pred) if y_true.ndim == 1 else (y_true, y_pred[..., 0])
    return y_true, y_pred


def exact_matches(y_true, y_pred):
    y_true, y_pred = aligned(y_true, y_pred)
    return (y_true == y_pred).astype(np.float32)


def binary_accuracy(y_true, y_pred, threshold=0.5):
    y_true, y_pred = aligned(y_true, y_pred)
    right = (y_true == (y_pred > threshold)).astype(np.float32)
    return as_tensor(right.mean(-1) if right.ndim > 1 else right)


def categorical_accuracy(y_true, y_pred):
    y_true, y_pred = numbers_of(y_true), numbers_of(y_pred)
    return as_tensor((y_true.argmax(-1) == y_pred.argmax(-1)).astype(np.float32))


def sparse_categorical_accuracy(y_true, y_pred):
    y_true, y_pred = numbers_of(y_true), numbers_of(y_pred)
    if y_true.ndim == y_pred.ndim and y_true.shape[-1] == 1:
        y_true = y_true[..., 0]
    return as_tensor((y_true.astype(np.int64) == y_pred.argmax(-1)).astype(np.float32))


def among_best(labels, y_pred, k):
    right = np.take_along_axis(y_pred, labels[..., None].astype(np.int64), -1)
    return ((y_pred > right).sum(-1) < k).astype(np.float32)


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    return as_tensor(among_best(numbers_of(y_true).argmax(-1), numbers_of(y_pred), k))


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5, from_sorted_ids=False):
    labels, y_pred = numbers_of(y_true), numbers_of(y_pred)
    if from_sorted_ids:
        is_right = y_pred[..., :k] == labels.reshape(*y_pred.shape[:-1], 1)
        return as_tensor(is_right.any(-1).astype(np.float32))
    return as_tensor(among_best(labels.reshape(y_pred.shape[:-1]), y_pred, k))


class Accuracy(MeanMetricWrapper):
    def __init__(self, name="accuracy", dtype=None):
        super().__init__(exact_matches, name)


class BinaryAccuracy(MeanMetricWrapper):
    def __init__(self, name="binary_accuracy", dtype=None, threshold=0.5):
        super().__init__(binary_accuracy, name, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, name="categorical_accuracy", dtype=None):
        super().__init__(categorical_accuracy, name)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, name="sparse_categorical_accuracy", dtype=None):
        super().__init__(sparse_categorical_accuracy, name)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(top_k_categorical_accuracy, name, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy", dtype=None, from_sorted_ids=False):
        super().__init__(sparse_top_k_categorical_accuracy, name, k=k, from_sorted_ids=from_sorted_ids)


class LossMetric(MeanMetricWrapper):
    """The mean of a loss function's values."""

    function = None

    def __init__(self, name=None, dtype=None, **settings):
        super().__init__(
            type(self).function, name or snake_case(type(self).__name__).removesuffix("_metric"), **settings
        )


class MeanSquaredErrorMetric(LossMetric):
    function = staticmethod(mean_squared_error)


class MeanAbsoluteErrorMetric(LossMetric):
    function = staticmethod(mean_absolute_error)


class MeanAbsolutePercentageErrorMetric(LossMetric):
    function = staticmethod(mean_absolute_percentage_error)


class MeanSquaredLogarithmicErrorMetric(LossMetric):
    function = staticmethod(mean_squared_logarithmic_error)


class LogCoshErrorMetric(LossMetric):
    function = staticmethod(log_cosh)


class HingeMetric(LossMetric):
    function = staticmethod(hinge)


class SquaredHingeMetric(LossMetric):
    function = staticmethod(squared_hinge)


class CategoricalHingeMetric(LossMetric):
    function = staticmethod(categorical_hinge)


class KLDivergenceMetric(LossMetric):
    function = staticmethod(kl_divergence)


class PoissonMetric(LossMetric):
    function = staticmethod(poisson)


class CosineSimilarityMetric(LossMetric):
    function = staticmethod(cosine_similarity)


class BinaryCrossentropyMetric(LossMetric):
    function = staticmethod(binary_crossentropy)


class CategoricalCrossentropyMetric(LossMetric):
    function = staticmethod(categorical_crossentropy)


class SparseCategoricalCrossentropyMetric(LossMetric):
    function = staticmethod(sparse_categorical_crossentropy)


class RootMeanSquaredError(Mean):
    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = aligned(y_true, y_pred)
        super().update_state((y_true - y_pred) ** 2, sample_weight)

    def result(self):
        return as_tensor(np.float32(np.sqrt(self.total / self.count if self.count else 0.0)))
