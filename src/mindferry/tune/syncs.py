"""Calls that make the host wait for the device: asnumpy(), item(), float(tensor) and their kin, with their places."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from typing import Any

from .clock import WARM, Clock, caller

NAMES = ("asnumpy", "item", "tolist", "__float__", "__int__", "__bool__")


class Syncs:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.calls: Counter[str] = Counter()  # place -> calls after the warm-up
        self.steps: defaultdict[str, set[int]] = defaultdict(set)  # place -> steps in which it ran
        self._depth = 0

    def install(self, kind: Any) -> None:
        for name in NAMES:
            if hasattr(kind, name):
                setattr(kind, name, self._watched(getattr(kind, name)))

    def _watched(self, original: Any) -> Any:
        @functools.wraps(original)
        def read(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth or self.clock.depth:  # inside a phase it belongs to that phase
                return original(tensor, *args, **kwargs)
            self._depth += 1
            try:
                if self.clock.stage != WARM:
                    where = caller(self.clock.project)
                    self.calls[where] += 1
                    self.steps[where].add(len(self.clock.steps))
                with self.clock.span("sync"):
                    return original(tensor, *args, **kwargs)
            finally:
                self._depth -= 1

        return read

    def places(self) -> list[tuple[str, float, float]]:
        """(place, calls a step, share of the steps), most calls first."""
        steps = max(1, sum(step.stage != WARM for step in self.clock.steps))
        return [
            (where, count / steps, len(self.steps[where]) / steps) for where, count in self.calls.most_common() if where
        ]
