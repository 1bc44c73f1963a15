"""Losses by name, as compile takes them."""

from .initializers import snake_case
from .losses import (
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Dice,
    GivenLoss,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    Loss,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
    Tversky,
)
from .losses_special import CTC, CategoricalGeneralizedCrossEntropy, Circle

NAMED_LOSSES = (
    MeanSquaredError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredLogarithmicError,
    LogCosh,
    Hinge,
    SquaredHinge,
    CategoricalHinge,
    Poisson,
    Huber,
    CosineSimilarity,
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    SparseCategoricalCrossentropy,
    Dice,
    Tversky,
    CTC,
    Circle,
    CategoricalGeneralizedCrossEntropy,
)
LOSSES = {
    **{snake_case(each.__name__): each for each in NAMED_LOSSES},
    "mse": MeanSquaredError,
    "mae": MeanAbsoluteError,
    "mape": MeanAbsolutePercentageError,
    "msle": MeanSquaredLogarithmicError,
    "bce": BinaryCrossentropy,
    "logcosh": LogCosh,
    "kld": KLDivergence,
    "kl_divergence": KLDivergence,
    "kullback_leibler_divergence": KLDivergence,
    "k_l_divergence": KLDivergence,
}


def get_loss(given):
    """By name, by function, or the loss itself."""
    if isinstance(given, str):
        return LOSSES[given if given in LOSSES else given.lower() if given.lower() in LOSSES else snake_case(given)]()
    if isinstance(given, dict):  # as keras.losses.serialize writes it
        return type(get_loss(given["class_name"]))(**given.get("config", {}))
    if isinstance(given, type):
        return given()
    return given if given is None or isinstance(given, Loss) else GivenLoss(given)


def loss_of_name(given):
    """keras.losses.get: a function's name gives the function, whose values are not reduced; a class' name makes the loss."""
    if isinstance(given, str) and given in LOSSES and given == given.lower():
        return LOSSES[given].function
    return given if callable(given) and not isinstance(given, type) else get_loss(given)
