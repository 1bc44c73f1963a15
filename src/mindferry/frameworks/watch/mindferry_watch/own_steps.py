"""step() of an optimizer that a converted project defines, or of LBFGS: no call of a Cell, and one step whatever it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Seen = Callable[[Any], None]  # is given the optimizer


class OwnSteps:
    """`is_inside` while such a step() runs: the optimizers that it calls make no step of their own.

    `is_counted` tells whether a call of a Cell is under way, which counts as the step: the step() inside of it does not.
    """

    def __init__(self, before: Seen, after: Seen, is_counted: Callable[[], bool]) -> None:
        self.before, self.after, self.is_counted = before, after, is_counted
        self.is_inside = False
        self._watched: set[type] = set()

    def install(self, helper: Any) -> None:
        """Watch every class of optimizers of which one is made, by way of their common base in the project's helper."""
        base = getattr(helper, "Optimizer", None)
        if base is None:
            return
        original = base.__init__

        def initialise(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            self._watch(type(optimizer), base)
            original(optimizer, *args, **kwargs)

        base.__init__ = initialise

    def _watch(self, kind: Any, base: Any) -> None:
        is_own = hasattr(kind, "step") and kind.step.__module__ != base.__module__
        if kind in self._watched or not (is_own or kind.__name__ == "LBFGS"):
            return
        self._watched.add(kind)
        own = kind.step

        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if self.is_inside or self.is_counted():
                return own(optimizer, *args, **kwargs)
            self.before(optimizer)
            self.is_inside = True
            try:
                result = own(optimizer, *args, **kwargs)
            finally:
                self.is_inside = False
            self.after(optimizer)
            return result

        step.__module__ = own.__module__
        kind.step = step
