"""Random numbers shared by both sides: what the reference's own code drew, the conversion's own code is given.

Only calls from the project's files count: initial weights are copied, batches are replayed, and what a framework draws
for itself has no twin.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .exchange import Exchange

# A draw is matched by its distribution and its shape, because a rewritten call may use another name for the same thing.
FAMILY = {
    "rand": "uniform",
    "rand_like": "uniform",
    "randn": "normal",
    "randn_like": "normal",
    "standard_normal": "normal",
    "randint": "integers",
    "randint_like": "integers",
    "randperm": "permutation",
    "normal": "normal with mean",
    "bernoulli": "bernoulli",
    "multinomial": "multinomial",
    "poisson": "poisson",
    "gumbel_softmax": "gumbel",
}
METHODS = {
    "normal_": "normal_like",
    "uniform_": "uniform_like",
    "random_": "random_like",
    "bernoulli_": "bernoulli_like",
    "exponential_": "exponential_like",
    "log_normal_": "log_normal_like",
}
FAMILY |= {name: name for name in METHODS.values()}


class Draws:
    """The random tensors of the project's own code, in order, by distribution and shape."""

    def __init__(self, project: Path, exchange: Exchange, helpers: tuple[str, ...] = ()) -> None:
        self.project, self.exchange = str(project), exchange
        self.helpers = tuple(f"/{name.replace('.', '/')}.py" for name in helpers)
        self.kept: dict[str, list[Any]] = {}
        self.is_paused = False

    def is_own(self, depth: int = 2) -> bool:
        """Whether the function that called the wrapper is the project's."""
        name = sys._getframe(depth).f_code.co_filename
        return name.startswith(self.project) and not name.endswith(self.helpers or ("\0",)) and not self.is_paused

    def keep(self, name: str, array: Any) -> None:
        self.kept.setdefault(f"{FAMILY[name]} {array.shape}", []).append(array)

    def read(self) -> None:
        self.kept = self.exchange.read_draws()

    def take(self, name: str, shape: tuple[int, ...]) -> Any:
        """The reference's numbers for this call; None if it drew no such ones."""
        waiting = self.kept.get(f"{FAMILY[name]} {tuple(shape)}")
        return waiting.pop(0) if waiting else None


def wrap(owner: Any, names: dict[str, str], wrapper: Callable[[str, Any], Any]) -> None:
    """Replace functions of `owner`: name there -> name in FAMILY."""
    for name, known in names.items():
        original = getattr(owner, name, None)
        if original is not None:
            setattr(owner, name, wrapper(known, original))


def host_state() -> Any:
    """Where Python's and numpy's generators stand."""
    import numpy as np

    return random.getstate(), np.random.get_state()


class HostStream:
    """numpy's global generator as the project sees it: MindSpore seeds and uses the real one, torch leaves it alone."""

    def __init__(self, draws: Draws) -> None:
        import numpy as np

        self.draws, self.stream = draws, np.random.RandomState()

    def install(self) -> None:
        import numpy as np

        for name in dir(self.stream):
            if not name.startswith("_") and callable(getattr(np.random, name, None)):
                setattr(np.random, name, self._choose(getattr(self.stream, name), getattr(np.random, name)))

    def _choose(self, own: Any, original: Any) -> Any:
        def draw(*args: Any, **kwargs: Any) -> Any:
            return (own if self.draws.is_own() else original)(*args, **kwargs)

        return draw

    def move_to(self, state: Any) -> None:
        if state is not None:
            random.setstate(state[0])
            self.stream.set_state(state[1])
