"""What a network's code keeps outside of its modules: in globals, on classes, in defaults, closures, iterators and objects of its own."""

from __future__ import annotations

import functools
import random
import sys
import threading
import zlib
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, GeneratorType, SimpleNamespace
from typing import Any

DEEP = 6
LARGE = 1 << 16  # bytes of an array that is looked at
LONG = 64  # items of a container that are looked at
FRAMEWORK_HOMES = (
    "torch",
    "mindspore",
    "keras",
    "tensorflow",
    "builtins",
    "abc",
    "typing",
)  # homes of classes that are nobody's own
NETWORK = ("_modules", "_cells", "param_groups")  # what a module, a cell and an optimizer have


def kept_outside(parts: Iterable[Any], is_tensor: Callable[[Any], bool], hidden: frozenset[str]) -> dict[str, Any]:
    """Place -> the number, the tensor or the state of an iterator there.

    `parts` are the modules or cells of the project's own classes; `hidden` what the framework keeps in each of them.
    """
    parts = list(parts)
    kinds = dict.fromkeys(base for part in parts for base in type(part).__mro__ if not _is_library(base))
    homes = frozenset(kind.__module__ for kind in kinds)
    walk = _Walk(homes, is_tensor)
    for home in sorted(homes):
        walk.names("global ", vars(sys.modules[home]) if home in sys.modules else {})
    for kind in kinds:
        walk.names(f"{kind.__name__}.", vars(kind))
    for part in parts:
        held = {name: value for name, value in vars(part).items() if name not in hidden and not _is_plain(value)}
        walk.names(f"{type(part).__name__}.", {name: each for name, each in held.items() if not is_tensor(each)})
    return walk.found


def moved(before: Mapping[str, Any], after: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> list[str]:
    """Places of numbers that are no longer what they were."""
    places = [place for place in {**before, **after} if not is_tensor(after.get(place, before.get(place)))]
    return [place for place in places if not is_tensor(before.get(place)) and before.get(place) != after.get(place)]


def new_tensors(
    before: Mapping[str, Any], after: Mapping[str, Any], is_tensor: Callable[[Any], bool]
) -> dict[str, Any]:
    """Tensors that were not there before."""
    return {place: value for place, value in after.items() if is_tensor(value) and before.get(place) is not value}


class _Walk:
    def __init__(self, homes: frozenset[str], is_tensor: Callable[[Any], bool]) -> None:
        self.homes, self.is_tensor = homes, is_tensor
        self.found: dict[str, Any] = {}
        self._seen: set[int] = set()

    def names(self, prefix: str, held: Mapping[str, Any]) -> None:
        for name, value in list(held.items()):
            if not name.startswith("__"):
                self.visit(f"{prefix}{name}", value, 0)

    def visit(self, place: str, value: Any, depth: int) -> None:
        if self.is_tensor(value) or (isinstance(value, int | float) and not isinstance(value, bool)):
            self.found[place] = value
        elif _is_array(value):
            self.found[place] = zlib.crc32(bytes(value))
        elif (state := _state_of_generator(value)) is not None:
            self.found[place] = state
        elif type(value).__module__ == "itertools":
            self.found[place] = repr(value.__reduce__()) if hasattr(value, "__reduce__") else None
        elif depth < DEEP and id(value) not in self._seen:
            self._seen.add(id(value))
            for name, each in self._inside(value):
                self.visit(f"{place}{name}", each, depth + 1)

    def _inside(self, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, Mapping):
            yield " (length)", len(value)
            yield from ((f"[{key!r}]", value[key]) for key in list(value)[:LONG])
        elif isinstance(value, list | tuple | set | deque):
            yield " (length)", len(value)
            yield from ((f"[{index}]", each) for index, each in enumerate(list(value)[:LONG]))
        elif isinstance(value, staticmethod | classmethod):
            yield "", value.__func__
        elif isinstance(value, property):
            yield "", value.fget
        elif isinstance(value, functools.partial):
            yield from ((".func", value.func), (".args", value.args), (".keywords", value.keywords))
        elif isinstance(value, FunctionType) and value.__module__ in self.homes:
            yield from _in_function(value)
        elif isinstance(value, GeneratorType) and value.gi_frame is not None:
            yield from ((f".{name}", each) for name, each in value.gi_frame.f_locals.items())
        elif isinstance(value, type) and value.__module__ in self.homes:
            yield from ((f".{name}", each) for name, each in vars(value).items() if not name.startswith("__"))
        elif isinstance(value, threading.local):
            yield from ((f".{name}", each) for name, each in vars(value).items())
        elif self._is_own_object(value):
            slots = [
                name for kind in type(value).__mro__ for name in vars(kind).get("__slots__", ()) if name != "__dict__"
            ]
            yield from ((f".{name}", getattr(value, name, None)) for name in (*getattr(value, "__dict__", ()), *slots))

    def _is_own_object(self, value: Any) -> bool:
        if isinstance(value, type) or any(hasattr(type(value), name) for name in NETWORK):
            return False
        return type(value).__module__ in self.homes or isinstance(value, SimpleNamespace)


def _is_library(kind: type) -> bool:
    return kind.__module__.split(".")[0] in FRAMEWORK_HOMES


def _state_of_generator(value: Any) -> int | None:
    """Of random numbers, Python's or numpy's: a draw moves it."""
    if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
        return hash(value.getstate())
    if type(value).__module__.startswith("numpy.random"):
        state = value.get_state() if hasattr(type(value), "get_state") else getattr(value, "bit_generator", value)
        return zlib.crc32(repr(getattr(state, "state", state)).encode())
    return None


def _is_array(value: Any) -> bool:
    """Numbers in a row, of numpy, of `array` or as bytes: they may count."""
    if isinstance(value, bytearray | array):
        return True
    size = getattr(value, "nbytes", None) if type(value).__module__ == "numpy" else None
    return isinstance(size, int) and 0 < size <= LARGE


def _in_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield f".{name}", cell.cell_contents
        except ValueError:  # nothing is in it yet
            continue
    yield from ((f" (default {index})", each) for index, each in enumerate(function.__defaults__ or ()))
    yield from ((f" (default {name})", each) for name, each in (function.__kwdefaults__ or {}).items())
    yield from ((f".{name}", each) for name, each in vars(function).items())


def _is_plain(value: Any) -> bool:
    """What is seen where attributes are watched."""
    return isinstance(value, bool | int | float | str | None | list | dict | set)
