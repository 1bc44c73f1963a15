"""Which module was running when: intervals of every module call, to tell whose operator an operator is."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Any

from .clock import Clock, now


@dataclass(frozen=True, slots=True)
class LayerCall:
    name: str
    start: int
    end: int
    shapes: str


class Layers:
    """Calls in the order in which they ended: an inner one comes before its outer one."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.calls: list[LayerCall] = []
        self._names: dict[int, str] = {}

    def call(self, cell: Any, original: Any, args: Any, kwargs: Any) -> Any:
        if id(cell) not in self._names:
            own = {id(each): name for name, each in cell.cells_and_names()}
            self._names = {**own, **self._names, id(cell): type(cell).__name__}
        start = now()
        try:
            return original(cell, *args, **kwargs)
        finally:
            shapes = ", ".join(str(tuple(each.shape)) for each in args if hasattr(type(each), "shape"))
            self.calls.append(LayerCall(self._names[id(cell)] or type(cell).__name__, start, now(), shapes))

    def finder(self) -> Finder:
        return Finder(self.calls)


class Finder:
    """Finds the innermost call that was running at a moment."""

    def __init__(self, calls: list[LayerCall]) -> None:
        self._calls = sorted(calls, key=lambda each: each.start)
        self._starts = [each.start for each in self._calls]

    def at(self, moment: int) -> LayerCall | None:
        index = bisect.bisect_right(self._starts, moment) - 1
        while index >= 0:
            if self._calls[index].end >= moment:
                return self._calls[index]
            index -= 1
            if index >= 0 and moment - self._starts[index] > 60_000_000_000:
                return None
        return None
