"""The conversion's random numbers: those that the reference drew, found by the path of the module that draws, else by their order.

Dropout cells and functions multiply by the reference's masks. Every other function that draws hands out the reference's uniform or
normal numbers, brought to its own interval or spread. Helpers that draw with numpy get a generator that does so.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .mindspore_dropout import helper_files, is_dropout, multiply, other_unit, own_files, replaced_dropout

Cell = Any
Tensor = Any
Problem = Callable[[str, str], None]  # path, what is wrong
HOST_RANDOM = "host_random"  # the helper that makes a generator of numpy's for one call


@dataclass(slots=True)
class Stock:
    """What the reference drew, in its order: (path, key, rate or family). Each is given out once."""

    items: Sequence[tuple[str, str, Any]]
    read: Callable[[str], Any]  # key -> array
    size: Callable[[str], int]
    used: set[int] = field(default_factory=set)

    def take(self, path: str, size: int, family: str = "") -> tuple[Any, Any] | None:
        """The next one of this path; else the next of any path that has as many elements."""
        left = [
            (index, item)
            for index, item in enumerate(self.items)
            if index not in self.used and (not family or item[2] == family)
        ]
        chosen = next((each for each in left if each[1][0] == path), None)
        if chosen is None:
            chosen = next((each for each in left if self.size(each[1][1]) == size), None)
        if chosen is None:
            return None
        self.used.add(chosen[0])
        return self.read(chosen[1][1]), chosen[1][2]

    def left(self) -> list[tuple[str, str, Any]]:
        return [item for index, item in enumerate(self.items) if index not in self.used]


@contextlib.contextmanager
def shared_randomness(
    cell: Cell,
    here: Callable[[], str],
    masks: Stock,
    draws: Stock,
    wrong: Problem,
    lost: list[str],
    hidden: Mapping[str, float],
) -> Iterator[None]:
    """`here` is the path of the cell that runs. `lost` gets the paths that drew something the reference did not.

    `hidden`: recurrent layers and how much they drop between their own layers. There it is off, and the rates are compared.
    """

    def drop(path: str, rate: float | None, input: Tensor, name: str) -> Tensor:
        found = masks.take(path, input.size)
        if found is None:
            if rate:
                wrong(path, f"drops {rate:g} of its input, the reference nothing")
            return input
        values, expected = found
        if rate is not None and abs(rate - expected) > 1e-6:
            wrong(path, f"drops {rate:g} of its input, not {expected:g}")
        if problem := other_unit(name, values.size, tuple(input.shape)):
            wrong(path, problem)
        return multiply(input, values, path, wrong)

    def function(name: str, input: Tensor, rate: float | None, training: bool) -> Tensor:
        return drop(here(), rate, input, name) if training and rate != 0 else input

    handles = []
    for path, found in cell.cells_and_names():
        rate = getattr(found, "p", None)
        if not (is_dropout(found) and found.training) or rate == 0 or "Alpha" in type(found).__name__:
            continue
        inside = next((hidden[above] for above in hidden if path.startswith(f"{above}.")), None)
        if inside is None:
            handles.append(
                found.register_forward_hook(
                    lambda self, args, output, path=path, rate=rate: drop(path, rate, output, type(self).__name__)
                )
            )
    if cell.training:
        for path, problem in _hidden_problems(cell, hidden):
            wrong(path, problem)
    try:
        with replaced_dropout(cell, function), _replaced_draws(cell, here, draws, lost):
            yield
    finally:
        for handle in handles:
            handle.remove()
    for path, _, rate in masks.left():
        wrong(path, f"drops nothing, the reference {rate:g} of its input")


def _hidden_problems(cell: Cell, hidden: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    cells = dict(cell.cells_and_names())
    for path, expected in hidden.items():
        rates = [
            getattr(each, "p", None) for name, each in cells.items() if is_dropout(each) and name.startswith(f"{path}.")
        ]
        rates += [getattr(cells.get(path), "dropout", None)]
        known = [float(rate) for rate in rates if isinstance(rate, int | float)]
        if known and not any(abs(rate - expected) < 1e-6 for rate in known):
            yield path, f"drops {known[0]:g} between its layers, not {expected:g}"


@contextlib.contextmanager
def _replaced_draws(cell: Cell, here: Callable[[], str], draws: Stock, lost: list[str]) -> Iterator[None]:
    from mindspore import mint, ops

    made: dict[int, tuple[Any, Any]] = {}
    for home in (ops, mint):
        for name, (family, finish) in FUNCTIONS.items():
            original = getattr(home, name, None)
            if original is not None:
                made[id(original)] = (original, _drawing(original, family, finish, here, draws, lost))
    known = [(home, name) for home in (vars(ops), vars(mint)) for name in _drawing_names(home["__name__"])]
    files = {id(each): each for each in own_files(cell) if each is not vars(ops) and each is not vars(mint)}
    known += [(names, name) for names in files.values() for name in names]
    generator = _SharedGenerator(here, draws, lost)
    drawn = [(names, name, made[id(names[name])][1]) for names, name in known if id(names.get(name)) in made]
    drawn += [(names, HOST_RANDOM, lambda: generator) for names in helper_files(cell) if HOST_RANDOM in names]
    places = [(names, name, names[name]) for names, name, _ in drawn]
    for names, name, substitute in drawn:
        names[name] = substitute
    try:
        yield
    finally:
        for names, name, value in places:
            names[name] = value


@cache
def _drawing_names(home: str) -> tuple[str, ...]:
    """The names of a module of MindSpore's that are functions of FUNCTIONS; they are looked for at every run."""
    names = vars(sys.modules[home])
    wanted = {id(names[name]) for name in FUNCTIONS if name in names}
    return tuple(name for name, value in names.items() if id(value) in wanted)


def _drawing(
    original: Any, family: str, finish: Any, here: Callable[[], str], draws: Stock, lost: list[str]
) -> Callable[..., Tensor]:
    is_inside = [False]  # some of these functions call each other

    def draw(*args: Any, **options: Any) -> Tensor:
        import mindspore as ms

        if is_inside[0]:
            return original(*args, **options)
        is_inside[0] = True
        try:
            like = original(*args, **options)
        finally:
            is_inside[0] = False
        path = here()
        found = draws.take(path, like.size, family)
        if found is None or found[0].size != like.size:
            lost.append(path)
            return like
        numbers = ms.Tensor(found[0]).reshape(like.shape)
        return finish(numbers, args, options).astype(like.dtype)

    return draw


class _SharedGenerator:
    """What the helpers ask of a generator of numpy's, on the reference's uniform numbers."""

    def __init__(self, here: Callable[[], str], draws: Stock, lost: list[str]) -> None:
        self.here, self.draws, self.lost = here, draws, lost

    def random(self, shape: Sequence[int]) -> Any:
        import numpy as np

        path, size = self.here(), math.prod(shape)
        found = self.draws.take(path, size, "uniform")
        if found is None or found[0].size != size:
            self.lost.append(path)
            return np.random.default_rng(0).random(shape)
        return found[0].astype(np.float64).reshape(shape)

    def integers(self, low: int, high: int, shape: Sequence[int]) -> Any:
        import numpy as np

        return (low + np.floor(self.random(shape) * (high - low))).astype(np.int64)

    def permutation(self, number: int) -> Any:
        return self.random((number,)).argsort(kind="stable")

    def __getattr__(self, name: str) -> Any:
        """Every other distribution is drawn here alone."""
        import numpy as np

        self.lost.append(self.here())
        return getattr(np.random.default_rng(0), name)


def _as_drawn(numbers: Tensor, args: Any, options: dict[str, Any]) -> Tensor:
    return numbers


def _between(numbers: Tensor, args: Any, options: dict[str, Any]) -> Tensor:
    low, high = _given(args, options, 1, "minval"), _given(args, options, 2, "maxval")
    return numbers * (high - low) + low


def _spread(numbers: Tensor, args: Any, options: dict[str, Any]) -> Tensor:
    return numbers * _given(args, options, 2, "stddev") + _given(args, options, 1, "mean")


def _below(numbers: Tensor, args: Any, options: dict[str, Any]) -> Tensor:
    chance = _given(args, options, 1, "p") if len(args) > 1 or "p" in options else args[0]
    return numbers < chance


def _given(args: Any, options: dict[str, Any], place: int, name: str) -> Any:
    return args[place] if len(args) > place else options[name]


# function -> the numbers that it is built on, and what it makes of them
FUNCTIONS: dict[str, tuple[str, Callable[..., Tensor]]] = {
    "rand": ("uniform", _as_drawn),
    "rand_like": ("uniform", _as_drawn),
    "randn": ("normal", _as_drawn),
    "randn_like": ("normal", _as_drawn),
    "standard_normal": ("normal", _as_drawn),
    "uniform": ("uniform", _between),
    "normal": ("normal", _spread),
    "bernoulli": ("uniform", _below),
}
