"""Notes every seed that a script sets, and moves it where another run of the same script is wanted."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from numbers import Integral
from types import FrameType
from typing import Any

from .session import Session

# Packages that seed themselves with what they have drawn: a data loader its workers, for one.
SEED_THEMSELVES = frozenset({"torch", "numpy", "random", "mindspore", "tensorflow", "keras", "tf_keras"})


class Seeds:
    """`install` takes the framework's own functions as (owner, name, title); numpy's and Python's are always watched."""

    def __init__(self, session: Session) -> None:
        self.session, self.offset = session, session.settings.seed
        self.noted: list[list[Any]] = []
        self.is_moving = False

    def install(self, functions: Iterable[tuple[Any, str, str]]) -> None:
        import numpy

        for owner, name, title in (*functions, (numpy.random, "seed", "numpy"), (random, "seed", "random")):
            setattr(owner, name, self._moved(getattr(owner, name), title))
        self.session.at_end(lambda is_last: {"seeds": self.noted})

    def _moved(self, original: Callable[..., Any], title: str) -> Callable[..., Any]:
        def seed(*args: Any, **kwargs: Any) -> Any:
            given = args[0] if args else kwargs.get("seed")
            if not isinstance(given, Integral) or self.is_moving or not self._is_asked(sys._getframe(1)):
                return original(*args, **kwargs)
            number = int(given)
            if len(self.noted) < 100 and [title, number] not in self.noted:
                self.noted.append([title, number])
            moved = number + self.offset
            self.is_moving = True  # one function may seed others, with what it was given
            try:
                return original(moved, *args[1:], **kwargs) if args else original(**{**kwargs, "seed": moved})
            finally:
                self.is_moving = False

        return seed

    def _is_asked(self, frame: FrameType) -> bool:
        """By the project, or by a library's function for it, such as Lightning's `seed_everything` and transformers' `set_seed`."""
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        return package not in SEED_THEMSELVES or self.session.is_own(frame.f_code.co_filename)


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of those that the script has imported, and of Python."""
    listed = (*packages, "numpy", "PIL", "cv2", "scipy")
    found = {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in listed}
    return {"python": sys.version.split()[0], **{name: text for name, text in found.items() if text}}
