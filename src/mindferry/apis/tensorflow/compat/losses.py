"""Keras' losses: functions that give a value a sample, and classes that weigh and reduce them."""

import mindspore as ms
from mindspore import Tensor, ops

from .activations import log_softmax, softplus
from .functions_math import softmax_cross_entropy_with_logits
from .initializers import snake_case
from .layers_shaping import unit_vectors
from .tensors import Made, as_tensor, is_float, map_structure

EPSILON = 1e-7


def paired(y_true, y_pred):
    """Both as tensors of the prediction's type and of one rank."""
    y_pred = as_tensor(y_pred)
    y_pred = y_pred if is_float(y_pred) else ops.cast(y_pred, ms.float32)
    y_true = as_tensor(y_true)
    y_true = y_true if y_true.dtype == y_pred.dtype else ops.cast(y_true, y_pred.dtype)
    return same_rank(y_true, y_pred)


def same_rank(y_true, y_pred):
    """Where only one of them has a trailing axis of one: the other gets it if it has one axis, otherwise it goes."""
    if y_true.ndim == y_pred.ndim + 1 and y_true.shape[-1] == 1:
        return (y_true, ops.expand_dims(y_pred, -1)) if y_pred.ndim == 1 else (ops.squeeze(y_true, -1), y_pred)
    if y_pred.ndim == y_true.ndim + 1 and y_pred.shape[-1] == 1:
        return (ops.expand_dims(y_true, -1), y_pred) if y_true.ndim == 1 else (y_true, ops.squeeze(y_pred, -1))
    return y_true, y_pred


def last_mean(x):
    return ops.mean(x, -1) if x.ndim else x


def mean_squared_error(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    return last_mean(ops.square(y_true - y_pred))


def mean_absolute_error(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    return last_mean(ops.abs(y_true - y_pred))


def mean_absolute_percentage_error(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    return 100 * last_mean(ops.abs((y_true - y_pred) / ops.maximum(ops.abs(y_true), as_tensor(EPSILON))))


def mean_squared_logarithmic_error(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    logs = [ops.log(ops.maximum(each, as_tensor(EPSILON)) + 1) for each in (y_true, y_pred)]
    return last_mean(ops.square(logs[0] - logs[1]))


def huber(y_true, y_pred, delta=1.0):
    y_true, y_pred = paired(y_true, y_pred)
    error = ops.abs(y_true - y_pred)
    return last_mean(ops.where(error <= delta, 0.5 * error * error, delta * error - 0.5 * delta**2))


def log_cosh(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    x = y_pred - y_true
    return last_mean(x + softplus(-2.0 * x) - 0.6931471805599453)


def hinge(y_true, y_pred):
    y_true, y_pred = signed(*paired(y_true, y_pred))
    return last_mean(ops.relu(1 - y_true * y_pred))


def squared_hinge(y_true, y_pred):
    y_true, y_pred = signed(*paired(y_true, y_pred))
    return last_mean(ops.square(ops.relu(1 - y_true * y_pred)))


def signed(y_true, y_pred):
    """0 and 1 count as -1 and 1."""
    values = y_true.asnumpy()
    return (2 * y_true - 1 if ((values == 0) | (values == 1)).all() else y_true), y_pred


def categorical_hinge(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    right = ops.sum(y_true * y_pred, -1)
    return ops.relu(ops.amax((1 - y_true) * y_pred, -1) - right + 1)


def logits_behind(y_pred, from_logits):
    """(predictions, whether they are logits): those that a softmax or sigmoid has just been given, where there are any."""
    logits = getattr(y_pred, "keras_logits", None)
    return (y_pred, from_logits) if logits is None else (logits, True)


def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    y_pred, from_logits = logits_behind(y_pred, from_logits)
    y_true, y_pred = paired(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1 - label_smoothing) + 0.5 * label_smoothing
    return ops.mean(elementwise_crossentropy(y_true, y_pred, from_logits), axis)


def elementwise_crossentropy(y_true, y_pred, from_logits):
    if from_logits:
        return ops.relu(y_pred) - y_pred * y_true + ops.log1p(ops.exp(-ops.abs(y_pred)))
    y_pred = ops.clamp(y_pred, EPSILON, 1 - EPSILON)
    return -(y_true * ops.log(y_pred) + (1 - y_true) * ops.log(1 - y_pred))


def binary_focal_crossentropy(
    y_true, y_pred, apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
):
    y_true, y_pred = paired(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1 - label_smoothing) + 0.5 * label_smoothing
    y_pred = ops.sigmoid(y_pred) if from_logits else y_pred
    found = y_true * y_pred + (1 - y_true) * (1 - y_pred)
    loss = ops.pow(1 - found, gamma) * elementwise_crossentropy(y_true, y_pred, False)
    if apply_class_balancing:
        loss = loss * (y_true * alpha + (1 - y_true) * (1 - alpha))
    return ops.mean(loss, axis)


def log_probabilities(y_pred, from_logits, axis):
    if from_logits:
        return log_softmax(y_pred, axis)
    y_pred = y_pred / ops.sum(y_pred, axis, True)
    return ops.log(ops.clamp(y_pred, EPSILON, 1 - EPSILON))


def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0.0, axis=-1):
    y_pred, from_logits = logits_behind(y_pred, from_logits)
    y_true, y_pred = paired(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1 - label_smoothing) + label_smoothing / y_pred.shape[axis]
    if from_logits:
        return softmax_cross_entropy_with_logits(y_true, y_pred, axis)
    return -ops.sum(y_true * log_probabilities(y_pred, from_logits, axis), axis)


def categorical_focal_crossentropy(
    y_true, y_pred, alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
):
    y_true, y_pred = paired(y_true, y_pred)
    if label_smoothing:
        y_true = y_true * (1 - label_smoothing) + label_smoothing / y_pred.shape[axis]
    chances = ops.exp(log_softmax(y_pred, axis)) if from_logits else y_pred / ops.sum(y_pred, axis, True)
    chances = ops.clamp(chances, EPSILON, 1 - EPSILON)
    return ops.sum(ops.pow(1 - chances, gamma) * alpha * -y_true * ops.log(chances), axis)


def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, ignore_class=None, axis=-1):
    y_pred, from_logits = logits_behind(y_pred, from_logits)
    y_pred, y_true = as_tensor(y_pred), as_tensor(y_true)
    if y_true.ndim == y_pred.ndim and y_true.shape[-1] == 1:
        y_true = ops.squeeze(y_true, -1)
    labels = ops.cast(y_true, ms.int32)
    valid = None
    if ignore_class is not None:
        valid = ops.not_equal(labels, as_tensor(ignore_class, ms.int32))
        labels = ops.where(valid, labels, ops.zeros_like(labels))
    logs = log_probabilities(y_pred, from_logits, axis)
    if axis not in (-1, logs.ndim - 1):
        logs = ops.transpose(
            logs, (*(place for place in range(logs.ndim) if place != axis % logs.ndim), axis % logs.ndim)
        )
    chosen = ops.one_hot(labels, logs.shape[-1], as_tensor(1.0, logs.dtype), as_tensor(0.0, logs.dtype), -1)
    loss = -ops.sum(chosen * logs, -1)
    if valid is not None:
        loss = ops.where(valid, loss, ops.zeros_like(loss))
        loss._keras_mask = valid
    return loss


def kl_divergence(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    y_true, y_pred = ops.clamp(y_true, EPSILON, 1.0), ops.clamp(y_pred, EPSILON, 1.0)
    return ops.sum(y_true * ops.log(y_true / y_pred), -1)


def poisson(y_true, y_pred):
    y_true, y_pred = paired(y_true, y_pred)
    return last_mean(y_pred - y_true * ops.log(y_pred + EPSILON))


def cosine_similarity(y_true, y_pred, axis=-1):
    y_true, y_pred = paired(y_true, y_pred)
    return ops.sum(unit_vectors(y_true, axis) * unit_vectors(y_pred, axis), axis)


def negative_cosine(y_true, y_pred, axis=-1):
    return -cosine_similarity(y_true, y_pred, axis)


def dice(y_true, y_pred, axis=None):
    y_true, y_pred = paired(y_true, y_pred)
    axis = tuple(range(y_true.ndim)) if axis is None else axis
    return 1 - (2 * ops.sum(y_true * y_pred, axis) + EPSILON) / (
        ops.sum(y_true, axis) + ops.sum(y_pred, axis) + EPSILON
    )


def tversky(y_true, y_pred, alpha=0.5, beta=0.5, axis=None):
    y_true, y_pred = paired(y_true, y_pred)
    axis = tuple(range(y_true.ndim)) if axis is None else axis
    both = ops.sum(y_true * y_pred, axis)
    wrong = alpha * ops.sum(y_true * (1 - y_pred), axis) + beta * ops.sum((1 - y_true) * y_pred, axis)
    return 1 - (both + EPSILON) / (both + wrong + EPSILON)


def weighted(values, sample_weight, mask):
    if mask is not None:
        mask = ops.cast(mask, values.dtype)
        sample_weight = (
            mask if sample_weight is None else same_rank(as_tensor(sample_weight, values.dtype), mask)[0] * mask
        )
    if sample_weight is None:
        return values
    weight = as_tensor(sample_weight, values.dtype)
    weight, values = same_rank(weight, values)
    while weight.ndim < values.ndim:
        weight = ops.expand_dims(weight, -1)
    return values * weight


def reduced(values, reduction, mask=None, sample_weight=None):
    if reduction in (None, "none"):
        return values
    total = ops.sum(values) if values.ndim else values
    if reduction == "sum":
        return total
    if reduction == "mean_with_sample_weight" and sample_weight is not None:
        weights = weighted(ops.ones_like(values), sample_weight, mask)
        return total / ops.maximum(ops.sum(weights), as_tensor(EPSILON))
    if mask is not None:
        return total / ops.maximum(ops.sum(ops.cast(mask, values.dtype)), as_tensor(EPSILON))
    return total / values.size if values.ndim else total


def as_float32(value):
    """What a loss is given is of this type in Keras, labels too: of short whole numbers `1 - y_true` would run over."""
    value = as_tensor(value)
    return value if value.dtype == ms.float32 else ops.cast(value, ms.float32)


class Loss(Made):
    def __init__(self, name=None, reduction="sum_over_batch_size", dtype=None):
        self.name = name or snake_case(type(self).__name__)
        self.reduction = "sum_over_batch_size" if reduction in ("auto", "mean") else reduction

    def __call__(self, y_true, y_pred, sample_weight=None):
        mask = getattr(y_pred, "_keras_mask", None)
        values = self.call(*(map_structure(as_float32, each) for each in (y_true, y_pred)))
        mask = getattr(values, "_keras_mask", None) if getattr(values, "_keras_mask", None) is not None else mask
        return reduced(weighted(values, sample_weight, mask), self.reduction, mask, sample_weight)

    def call(self, y_true, y_pred):
        raise NotImplementedError(f"{type(self).__name__} has no call")

    def get_config(self):
        return {"name": self.name, "reduction": self.reduction}


class FunctionLoss(Loss):
    """A function's values, weighed and reduced."""

    function = None
    names = ()  # of its own settings, in the order in which they may be given

    def __init__(self, *args, reduction="sum_over_batch_size", name=None, dtype=None, **settings):
        given = dict(zip((*self.names, "reduction", "name"), args))
        super().__init__(given.pop("name", name), given.pop("reduction", reduction))
        self.settings = {**given, **settings}

    def call(self, y_true, y_pred):
        return type(self).function(y_true, y_pred, **self.settings)


class GivenLoss(Loss):
    """A function that somebody wrote."""

    def __init__(self, function, reduction="sum_over_batch_size", name=None):
        super().__init__(name or getattr(function, "__name__", "loss"), reduction)
        self.function = function

    def call(self, y_true, y_pred):
        if isinstance(y_pred, Tensor):
            y_true, y_pred = same_rank(y_true, y_pred)
        return as_tensor(self.function(y_true, y_pred))


class MeanSquaredError(FunctionLoss):
    function = staticmethod(mean_squared_error)


class MeanAbsoluteError(MeanSquaredError):
    function = staticmethod(mean_absolute_error)


class MeanAbsolutePercentageError(MeanSquaredError):
    function = staticmethod(mean_absolute_percentage_error)


class MeanSquaredLogarithmicError(MeanSquaredError):
    function = staticmethod(mean_squared_logarithmic_error)


class LogCosh(MeanSquaredError):
    function = staticmethod(log_cosh)


class Hinge(MeanSquaredError):
    function = staticmethod(hinge)


class SquaredHinge(MeanSquaredError):
    function = staticmethod(squared_hinge)


class CategoricalHinge(MeanSquaredError):
    function = staticmethod(categorical_hinge)


class KLDivergence(MeanSquaredError):
    function = staticmethod(kl_divergence)


class Poisson(MeanSquaredError):
    function = staticmethod(poisson)


class Dice(FunctionLoss):
    function = staticmethod(dice)


class Tversky(FunctionLoss):
    function = staticmethod(tversky)
    names = ("alpha", "beta")


class Huber(FunctionLoss):
    function, names = staticmethod(huber), ("delta",)


class CosineSimilarity(FunctionLoss):
    function, names = staticmethod(negative_cosine), ("axis",)


class BinaryCrossentropy(FunctionLoss):
    function, names = staticmethod(binary_crossentropy), ("from_logits", "label_smoothing", "axis")


class BinaryFocalCrossentropy(FunctionLoss):
    function = staticmethod(binary_focal_crossentropy)
    names = ("apply_class_balancing", "alpha", "gamma", "from_logits", "label_smoothing", "axis")


class CategoricalCrossentropy(FunctionLoss):
    function, names = staticmethod(categorical_crossentropy), ("from_logits", "label_smoothing", "axis")


class CategoricalFocalCrossentropy(FunctionLoss):
    function = staticmethod(categorical_focal_crossentropy)
    names = ("alpha", "gamma", "from_logits", "label_smoothing", "axis")


class SparseCategoricalCrossentropy(FunctionLoss):
    function, names = staticmethod(sparse_categorical_crossentropy), ("from_logits", "ignore_class")
