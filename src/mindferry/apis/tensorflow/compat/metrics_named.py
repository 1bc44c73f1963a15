"""Metrics by name, as compile takes them."""

from .initializers import snake_case
from .losses import Loss
from .losses_named import LOSSES, get_loss
from .metrics import (
    BinaryAccuracy,
    CategoricalAccuracy,
    CosineSimilarityMetric,
    MeanMetricWrapper,
    Metric,
    RootMeanSquaredError,
    SparseCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from .metrics_counts import AUC, FalseNegatives, FalsePositives, Precision, Recall, TrueNegatives, TruePositives
from .metrics_regions import BinaryIoU
from .metrics_scores import ConcordanceCorrelation, F1Score, FBetaScore, PearsonCorrelation, R2Score

NAMED_METRICS = (
    BinaryAccuracy,
    CategoricalAccuracy,
    SparseCategoricalAccuracy,
    TopKCategoricalAccuracy,
    SparseTopKCategoricalAccuracy,
    RootMeanSquaredError,
    Precision,
    Recall,
    TruePositives,
    FalsePositives,
    TrueNegatives,
    FalseNegatives,
    BinaryIoU,
    FBetaScore,
    F1Score,
    R2Score,
    PearsonCorrelation,
    ConcordanceCorrelation,
)
METRICS = {
    **{snake_case(each.__name__): each for each in NAMED_METRICS},
    "auc": AUC,
    "cosine_similarity": CosineSimilarityMetric,  # the loss of this name has the other sign
}


def get_metric(given, y_true=None, y_pred=None):
    """By name, by function, or the metric itself; what "accuracy" means depends on labels and predictions."""
    if given is None or isinstance(given, Metric):
        return given
    if isinstance(given, type):
        return given()
    if isinstance(given, Loss):
        return MeanMetricWrapper(given.call, given.name)
    if not isinstance(given, str):
        return MeanMetricWrapper(given)
    if given in ("accuracy", "acc"):
        return named_accuracy(given, y_true, y_pred)
    if given in ("crossentropy", "ce"):
        return MeanMetricWrapper(get_loss(crossentropy_name(y_true, y_pred)).call, given)
    name = given if given in METRICS or given in LOSSES else snake_case(given)
    name = name if name in METRICS or name in LOSSES else given.lower()
    return METRICS[name](name=given) if name in METRICS else MeanMetricWrapper(LOSSES[name]().call, given)


def named_accuracy(name, y_true, y_pred):
    if y_pred.shape[-1] == 1 and y_pred.ndim > 1:
        return BinaryAccuracy(name)
    is_sparse = len(y_true.shape) < len(y_pred.shape) or (y_true.shape[-1] == 1 and y_pred.shape[-1] > 1)
    if is_sparse:
        return SparseCategoricalAccuracy(name)
    return BinaryAccuracy(name) if len(y_pred.shape) < 2 else CategoricalAccuracy(name)


def crossentropy_name(y_true, y_pred):
    if y_pred.shape[-1] == 1:
        return "binary_crossentropy"
    is_sparse = len(y_true.shape) < len(y_pred.shape) or y_true.shape[-1] == 1
    return "sparse_categorical_crossentropy" if is_sparse else "categorical_crossentropy"
