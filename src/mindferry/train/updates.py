"""Where each parameter went in the same training steps: one that moves on one side alone is told, whatever the losses say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .exchange import Exchange, sample

if TYPE_CHECKING:
    import numpy as np

    Arrays = dict[str, np.ndarray[Any, Any]]

VISIBLE = 1e-5  # of a parameter's length, that a move must exceed before rounding can't explain it
FAINT = 1e-5  # of the largest gradient: what is smaller is rounding, and an optimizer may blow it up
CLOSE = 1e-4  # of the largest output
APART = 0.9  # of the reference's first update, that the conversion's may be off; Adam makes steps of rounding
ALL_APART = 0.005  # the same, where not one parameter is nearer: then it is the rule of the optimizer that differs
WATCHED = 3  # first steps in which all updates are compared: later, rounding has grown


@dataclass(frozen=True, slots=True)
class Updates:
    compared: int
    unmatched: tuple[str, ...]  # the conversion's script never met them
    wrong: str = ""
    networks: tuple[str, ...] = ()  # classes whose outputs, at their first call, and all of whose updates agree


def compare_updates(exchange: Exchange, steps: int, title: str = "torch") -> Updates:
    """Over all steps, each parameter moves on both sides or on neither; the first update is the same by and large."""
    if not steps:
        return Updates(0, ())
    first, last = _first(exchange, "before-0"), exchange.read_step(f"after-{steps - 1}")
    ours_first, ours_last = _first(exchange, "ours-before-0"), exchange.read_step(f"ours-after-{steps - 1}")
    theirs, ours = _gradients(exchange, "gradients", steps), _gradients(exchange, "ours-gradients", steps)
    shared = [name for name in last if name in ours_last and ours_last[name].shape == last[name].shape]
    told: list[str] = []
    for name in shared:
        way, own_way = _way(first, last, name), _way(ours_first, ours_last, name)
        length = _length(last[name])
        if way > VISIBLE * length and own_way == 0 and not _is_faint(name, theirs):
            told.append(f"{_short(name)} stays as it was, in {title} it moves")
        if own_way > VISIBLE * length and way == 0 and not _is_faint(name, ours):
            told.append(f"{_short(name)} moves, in {title} it stays as it was")
    loud = [name for name in shared if not _is_faint(name, theirs)]
    for step in range(min(steps, WATCHED) if not told else 0):
        told += _other_update(exchange, loud, step)
    unmatched = tuple(_short(name) for name in last if name not in shared and last[name].size)
    return Updates(len(shared), unmatched, told[0] if told else "", tuple(_agreeing(exchange, last, shared)))


def _agreeing(exchange: Exchange, last: Arrays, shared: list[str]) -> Iterator[str]:
    """Classes of networks that both runs show to be alike: the same output for the same input, and no parameter without a twin."""
    kinds = exchange.networks()
    lone = {int(name.partition(":")[0]) for name in last if name not in shared}
    alike = [root not in lone and _is_same_output(exchange, root) for root in range(len(kinds))]
    for kind in dict.fromkeys(kinds):
        if all(is_alike for each, is_alike in zip(kinds, alike, strict=True) if each == kind):
            yield kind


def _is_same_output(exchange: Exchange, root: int) -> bool:
    theirs, ours = exchange.read_output("", root), exchange.read_output("ours-", root)
    if not theirs or len(theirs) != len(ours):
        return False
    return all(_is_close(a, b) for a, b in zip(theirs, ours, strict=True))


def _is_close(theirs: np.ndarray[Any, Any], ours: np.ndarray[Any, Any]) -> bool:
    """Also not constant: a network that gives the same number everywhere shows nothing."""
    if theirs.shape != ours.shape or not theirs.size:
        return False
    a, b = theirs.astype("float64"), ours.astype("float64")
    largest = float(abs(a).max())
    return bool(math.isfinite(largest) and abs(a - b).max() <= CLOSE * largest and (a.size == 1 or a.min() < a.max()))


def _first(exchange: Exchange, name: str) -> Arrays:
    """The weights before the first step; what the networks began with, where there is no optimizer to tell."""
    known: Arrays = exchange.read_step(name)
    for root in range(len(exchange.networks())):
        for key, value in exchange.read_weights(root).items():
            known.setdefault(f"{root}:{key}", sample(value))
    return known


def _gradients(exchange: Exchange, kind: str, steps: int) -> dict[str, float]:
    """The largest gradient of each parameter in all steps."""
    found: dict[str, float] = {}
    for step in range(steps):
        for name, value in exchange.read_step(f"{kind}-{step}").items():
            size = float(abs(value).max()) if value.size else 0.0
            found[name] = max(found.get(name, 0.0), size)
    return found


def _is_faint(name: str, gradients: dict[str, float]) -> bool:
    """Whether what moves the parameter is no more than rounding; without an optimizer nothing is known of it."""
    return bool(gradients) and gradients.get(name, 0.0) <= FAINT * max(gradients.values())


def _way(first: Arrays, last: Arrays, name: str) -> float:
    if name not in first or first[name].shape != last[name].shape:
        return float("nan")
    return _length(last[name].astype("float64") - first[name].astype("float64"))


def _length(values: np.ndarray[Any, Any]) -> float:
    return math.sqrt(float((values.astype("float64") ** 2).sum()))


def _other_update(exchange: Exchange, names: list[str], step: int) -> Iterator[str]:
    """The first step begins with the same weights and batch: its update differs by rounding only."""
    errors = dict(_errors(exchange, names, step))
    if errors and min(errors.values()) > ALL_APART:
        yield f"the update of step {step + 1} is off by {min(errors.values()):.2g} of its size, or more, in every parameter"
    for name, error in errors.items() if step == 0 else ():
        if error > APART:
            yield f"the first update of {_short(name)} is off by {error:.2g} of its size"


def _errors(exchange: Exchange, names: list[str], step: int) -> Iterator[tuple[str, float]]:
    """How far each parameter's update is off, of its size; where it is large enough to be told from rounding."""
    sides = [exchange.read_step(f"{each}-{step}") for each in ("before", "after", "ours-before", "ours-after")]
    for name in names:
        if not all(name in side for side in sides):
            continue
        before, after, own_before, own_after = (side[name].astype("float64") for side in sides)
        update, own = after - before, own_after - own_before
        if _length(update) > VISIBLE * _length(before):
            yield name, _length(update - own) / _length(update)


def _short(name: str) -> str:
    """fc.weight of "0:fc.weight"."""
    return name.partition(":")[2]
