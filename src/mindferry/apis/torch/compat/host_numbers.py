"""Random numbers made on the host. torch has its own; MindSpore takes numpy's, and seeds numpy's and Python's along."""

import random
import sys
import types

import mindspore as ms
import numpy as np

from .parts import SEEDS_APART

DRAWING_MODULES = ("mindspore.common.initializer", "mindspore.nn.layer.rnns", "mindspore.nn.layer.rnn_cells")


def host_numbers():
    """Where initial weights, samplers and transforms take random numbers from: numpy's, until manual_seed sets them apart."""
    if not SEEDS_APART:
        return np.random
    return getattr(sys.modules[DRAWING_MODULES[0]], "np", np).random


def python_numbers():
    """The same for what is written with Python's random numbers."""
    if not SEEDS_APART:
        return random
    return getattr(getattr(sys.modules[DRAWING_MODULES[0]], "np", np), "python_random", random)


def manual_seed(seed):
    """torch.manual_seed: Python's and numpy's random numbers go on as they were, here and when layers are made."""
    keep_numbers(ms.set_seed, int(seed) % 2**32)
    # MindSpore's initializers get a numpy with random numbers of its own, so that a script's stay the script's.
    own = {"random": np.random.RandomState(int(seed) % 2**32), "python_random": random.Random(int(seed))}
    for module in [sys.modules[name] for name in DRAWING_MODULES if name in sys.modules]:
        module.np = types.SimpleNamespace(**{**vars(np), **own})


def seed_apart():
    """np.random.seed alone: torch's layers and loaders draw from other numbers, which nothing has seeded."""
    if not hasattr(getattr(sys.modules[DRAWING_MODULES[0]], "np", np), "python_random"):
        own = {"random": np.random.RandomState(), "python_random": random.Random()}
        for module in [sys.modules[name] for name in DRAWING_MODULES if name in sys.modules]:
            module.np = types.SimpleNamespace(**{**vars(np), **own})


def keep_numbers(seeding, seed):
    """Call what seeds Python's and numpy's random numbers too; these stay as they were."""
    states = random.getstate(), np.random.get_state()
    seeding(seed)
    random.setstate(states[0])
    np.random.set_state(states[1])
