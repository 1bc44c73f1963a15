"""Notes every seed that a script sets, and moves it where another run of the same script is wanted."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable
from typing import Any

from .session import Session


class Seeds:
    """`install` takes the framework's own functions as (owner, name, title); numpy's and Python's are always watched."""

    def __init__(self, session: Session) -> None:
        self.session, self.offset = session, session.settings.seed
        self.noted: list[list[Any]] = []

    def install(self, functions: Iterable[tuple[Any, str, str]]) -> None:
        import numpy

        for owner, name, title in (*functions, (numpy.random, "seed", "numpy"), (random, "seed", "random")):
            setattr(owner, name, self._moved(getattr(owner, name), title))
        self.session.at_end(lambda is_last: {"seeds": self.noted})

    def _moved(self, original: Callable[..., Any], title: str) -> Callable[..., Any]:
        def seed(*args: Any, **kwargs: Any) -> Any:
            is_own = self.session.is_own(sys._getframe(1).f_code.co_filename)
            if is_own and args and isinstance(args[0], int):
                if len(self.noted) < 100 and [title, args[0]] not in self.noted:
                    self.noted.append([title, args[0]])
                args = (args[0] + self.offset, *args[1:])
            return original(*args, **kwargs)

        return seed


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of those that the script has imported, and of Python."""
    listed = (*packages, "numpy", "PIL", "cv2", "scipy")
    found = {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in listed}
    return {"python": sys.version.split()[0], **{name: text for name, text in found.items() if text}}
