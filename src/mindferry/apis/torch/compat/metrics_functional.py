"""torchmetrics.functional: one batch, measured as the metric of the same name does; errors of numbers keep their gradients."""

from mindspore import mint

from .metrics import MeanAbsoluteError, MeanSquaredError, Precision, Recall
from .metrics_ranked import AUROC, AveragePrecision, MeanAbsolutePercentageError, PearsonCorrCoef, R2Score
from .metrics_tables import (
    CohenKappa,
    ConfusionMatrix,
    FBetaScore,
    HammingDistance,
    JaccardIndex,
    MatthewsCorrCoef,
    Specificity,
)


def precision(preds, target, task, **options):
    """torchmetrics.functional.precision."""
    return Precision(task, **options)(preds, target)


def recall(preds, target, task, **options):
    """torchmetrics.functional.recall."""
    return Recall(task, **options)(preds, target)


def specificity(preds, target, task, **options):
    """torchmetrics.functional.specificity."""
    return Specificity(task, **options)(preds, target)


def hamming_distance(preds, target, task, **options):
    """torchmetrics.functional.hamming_distance."""
    return HammingDistance(task, **options)(preds, target)


def fbeta_score(preds, target, task, **options):
    """torchmetrics.functional.fbeta_score."""
    return FBetaScore(task, **options)(preds, target)


def confusion_matrix(preds, target, task, **options):
    """torchmetrics.functional.confusion_matrix."""
    return ConfusionMatrix(task, **options)(preds, target)


def jaccard_index(preds, target, task, **options):
    """torchmetrics.functional.jaccard_index."""
    return JaccardIndex(task, **options)(preds, target)


def cohen_kappa(preds, target, task, **options):
    """torchmetrics.functional.cohen_kappa."""
    return CohenKappa(task, **options)(preds, target)


def matthews_corrcoef(preds, target, task, **options):
    """torchmetrics.functional.matthews_corrcoef."""
    return MatthewsCorrCoef(task, **options)(preds, target)


def auroc(preds, target, task, **options):
    """torchmetrics.functional.auroc."""
    return AUROC(task, **options)(preds, target)


def average_precision(preds, target, task, **options):
    """torchmetrics.functional.average_precision."""
    return AveragePrecision(task, **options)(preds, target)


def mean_absolute_percentage_error(preds, target, **options):
    """torchmetrics.functional.mean_absolute_percentage_error."""
    return MeanAbsolutePercentageError(**options)(preds, target)


def r2_score(preds, target, **options):
    """torchmetrics.functional.r2_score."""
    return R2Score(**options)(preds, target)


def pearson_corrcoef(preds, target, **options):
    """torchmetrics.functional.pearson_corrcoef."""
    return PearsonCorrCoef(**options)(preds, target)


def mean_squared_error(preds, target, squared=True, num_outputs=1):
    """torchmetrics.functional.mean_squared_error, which may be a loss."""
    MeanSquaredError(squared, num_outputs)
    error = mint.mean(mint.square(preds - target))
    return error if squared else mint.sqrt(error)


def mean_absolute_error(preds, target, num_outputs=1):
    """torchmetrics.functional.mean_absolute_error, which may be a loss."""
    MeanAbsoluteError(num_outputs)
    return mint.mean(mint.abs(preds - target))
