"""Follow one call of one module line by line: what each line of its forward or construct assigns."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..frameworks.requests import Traced, TracedLine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable got a new value; "return" for what is returned."""

    file: str
    line: int
    text: str
    variable: str
    value: Any  # numpy array, or a plain number


@contextlib.contextmanager
def traced(module: Any, call: int, method: str, to_numpy: Callable[[Any], Any]) -> Iterator[list[Assignment]]:
    """Assignments in the `call`-th call of `module.method` while the block runs.

    `to_numpy` turns a tensor into an array, gives numbers back as they are, and None for anything else.
    """
    found: list[Assignment] = []
    seen = {"calls": -1}
    code = getattr(type(module), method).__code__

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code is not code or frame.f_locals.get("self") is not module:
            return None
        seen["calls"] += 1
        return _follow(frame, found, to_numpy) if seen["calls"] == call else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield found
    finally:
        sys.settrace(before)


def _follow(frame: FrameType, found: list[Assignment], to_numpy: Callable[[Any], Any]) -> Any:
    known = {
        name: (value, _state(value)) for name, value in frame.f_locals.items()
    }  # held, or another may get its address
    last = {"line": frame.f_lineno}

    def note(frame: FrameType, variable: str, value: Any) -> None:
        array = to_numpy(value)
        if array is not None:
            path, line = frame.f_code.co_filename, last["line"]
            found.append(Assignment(path, line, linecache.getline(path, line).strip(), variable, array))

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        for name, value in frame.f_locals.items():
            before = known.get(name)
            if before is None or before[0] is not value or before[1] != _state(value):
                known[name] = value, _state(value)
                note(frame, name, value)
        last["line"] = frame.f_lineno
        if event == "return":
            note(frame, "return", argument)
        return step

    return step


def _state(value: Any) -> Any:
    """Changes when a tensor is changed in place."""
    return getattr(value, "_version", None)


def save(assignments: list[Assignment], path: Path) -> tuple[TracedLine, ...]:
    """Arrays to `path`; the rest as an answer."""
    import numpy as np

    np.savez(path, *[np.asarray(assignment.value) for assignment in assignments])
    return tuple(TracedLine(a.file, a.line, a.text, a.variable) for a in assignments)


def load(traced: Traced) -> list[Assignment]:
    import numpy as np

    with np.load(traced.arrays) as arrays:
        return [
            Assignment(each.file, each.line, each.text, each.variable, arrays[f"arr_{index}"])
            for index, each in enumerate(traced.lines)
        ]


def first_difference(
    reference: list[Assignment], converted: list[Assignment], tolerance: float
) -> tuple[Assignment, Assignment, float] | None:
    """The first assignment, in the order of the conversion, whose value is not the reference's."""
    import numpy as np

    from .compare import distance

    waiting: dict[str, list[Assignment]] = {}
    for assignment in reference:
        waiting.setdefault(assignment.variable, []).append(assignment)
    for assignment in converted:
        if not waiting.get(assignment.variable):
            continue
        other = waiting[assignment.variable].pop(0)
        largest, _, problem = distance(np.asarray(assignment.value), np.asarray(other.value))
        scale = float(np.abs(other.value).max()) if np.asarray(other.value).size else 0.0
        error = largest / scale if scale else largest
        if problem or error > tolerance:
            return other, assignment, error
    return None
