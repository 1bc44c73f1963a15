"""Optimizers by name, as compile takes them."""

from .optimizers import SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, Ftrl, Lamb, Lion, Nadam, RMSprop
from .optimizers_newer import Adafactor, Muon, ScheduleFreeAdamW

NAMED_OPTIMIZERS = (
    SGD,
    RMSprop,
    Adam,
    AdamW,
    Nadam,
    Adamax,
    Adagrad,
    Adadelta,
    Lion,
    Lamb,
    Ftrl,
    Adafactor,
    Muon,
    ScheduleFreeAdamW,
)
OPTIMIZERS = {each.__name__.lower(): each for each in NAMED_OPTIMIZERS}


def get_optimizer(given):
    if isinstance(given, str):
        return OPTIMIZERS[given.lower()]()
    if isinstance(given, dict):  # as keras.optimizers.serialize writes it
        return OPTIMIZERS[given["class_name"].lower()](**given.get("config", {}))
    return given() if isinstance(given, type) else given
