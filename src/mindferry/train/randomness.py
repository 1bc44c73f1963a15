"""Random numbers shared by both sides: what the reference's own code drew, the conversion's own code is given.

Only calls from the project's files count, by themselves or through a distribution that they sample from: initial weights are
copied, batches are replayed, and what a framework draws for itself has no twin.
"""

from __future__ import annotations

import random
import sys
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
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
    "normal_numbers": "normal",
    "uniform_numbers": "uniform",
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
        self.helpers = tuple(f"{project}/{name.replace('.', '/')}{end}" for name in helpers for end in (".py", "/"))
        self.kept: dict[str, list[Any]] = {}
        self.is_paused = False

    def is_own(self, depth: int = 2) -> bool:
        """Whether the function that called the wrapper is the project's, or a distribution that the project samples from."""
        frame: FrameType | None = sys._getframe(depth)
        while frame is not None and not self._is_of_project(frame) and _is_of_distribution(frame):
            frame = frame.f_back
        return frame is not None and self._is_of_project(frame) and not self.is_paused

    def is_of_script(self, depth: int = 2) -> bool:
        """Whether it is the project's, or a library's that both sides have, such as an environment: neither MindSpore's nor ours."""
        frame = sys._getframe(depth)
        if self.is_paused or frame.f_code.co_filename.startswith(self.helpers):
            return False
        return str(frame.f_globals.get("__name__", "")).partition(".")[0] not in ("mindspore", "mindferry")

    def is_through_distribution(self, depth: int = 2) -> bool:
        frame = sys._getframe(depth)
        return not self._is_of_project(frame) and _is_of_distribution(frame)

    def _is_of_project(self, frame: FrameType) -> bool:
        name = frame.f_code.co_filename
        return name.startswith(self.project) and not name.startswith(self.helpers)

    def keep(self, name: str, array: Any) -> None:
        self.kept.setdefault(f"{FAMILY[name]} {array.shape}", []).append(array)

    def read(self) -> None:
        self.kept = self.exchange.read_draws()

    def take(self, name: str, shape: tuple[int, ...]) -> Any:
        """The reference's numbers for this call; None if it drew no such ones."""
        waiting = self.kept.get(f"{FAMILY[name]} {tuple(shape)}")
        return waiting.pop(0) if waiting else None


def _is_of_distribution(frame: FrameType) -> bool:
    """torch.distributions itself, or a method of what a distribution became: of its methods, only those in use are written."""
    is_torch = str(frame.f_globals.get("__name__", "")).startswith("torch.distributions")
    kind = type(frame.f_locals.get("self"))
    return is_torch or hasattr(kind, "rsample") or hasattr(kind, "has_rsample")


def standard_numbers(name: str, args: Any, result: Any) -> tuple[str, Any]:
    """What a draw of a distribution rests on, whichever way it is made there: normal and uniform numbers."""
    if name == "normal" and len(args) == 2:
        return "randn", (result - args[0]) / args[1]
    if name == "normal_like" and len(args) == 1:  # torch.empty(shape).normal_()
        return "randn", result
    if name == "uniform_like" and len(args) == 3:
        return "rand", (result - args[1]) / (args[2] - args[1])
    if name == "bernoulli":
        return "rand", 1 - result  # below the probability where the draw is 1
    return name, result


def from_standard_numbers(name: str, args: Any, numbers: Any) -> Any:
    if name == "normal" and len(args) == 2:
        return numbers * args[1] + args[0]
    if name == "uniform_like" and len(args) == 3:
        return numbers * (args[2] - args[1]) + args[1]
    return 1 - numbers if name == "bernoulli" else numbers


def share_fresh_generators() -> None:
    """Generators of numpy's that nobody seeds, such as an environment's, start alike on both sides."""
    import numpy as np

    made: Counter[str] = Counter()
    plain, make = np.random.SeedSequence, np.random.default_rng

    def entropy() -> int:
        home = str(sys._getframe(2).f_globals.get("__name__", ""))
        made[home] += 1
        return zlib.crc32(home.encode()) + made[home]

    class SharedSeeds(plain):  # type: ignore[misc, valid-type]
        def __init__(self, seed: Any = None, **options: Any) -> None:
            super().__init__(entropy() if seed is None else seed, **options)

    def default_rng(seed: Any = None) -> Any:
        return make(entropy() if seed is None else seed)

    patched: Any = np.random
    patched.SeedSequence, patched.default_rng = SharedSeeds, default_rng


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
            return (own if self.draws.is_of_script() else original)(*args, **kwargs)

        return draw

    def move_to(self, state: Any) -> None:
        if state is not None:
            random.setstate(state[0])
            self.stream.set_state(state[1])
