"""What is not a call: classes, blocks, training loops. Each module here that has a `plan` is a fixer; `AFTER` names those that it comes after."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from random import Random

from ..facts import Facts
from ..plan import Change


@dataclass(frozen=True, slots=True)
class Fixer:
    name: str
    plan: Callable[[Facts], Iterator[Change]]
    after: tuple[str, ...]
    source: str = "torch"  # the framework whose files it is for


def discover() -> list[Fixer]:
    """Every module of this folder that plans changes."""
    found = []
    for each in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{each.name}")
        if hasattr(module, "plan"):
            source = getattr(module, "SOURCE", "torch")
            found.append(Fixer(each.name, module.plan, getattr(module, "AFTER", ()), source))
    return found


def in_order(fixers: Iterable[Fixer], chance: Random | None = None) -> list[Fixer]:
    """Each after those that it names. Which of several comes first makes no difference: by name, or by chance to show just that."""
    waiting = sorted(fixers, key=lambda each: each.name)
    ordered: list[Fixer] = []
    while waiting:
        names = {each.name for each in waiting}
        free = [each for each in waiting if not names & set(each.after)]
        if not free:
            raise ValueError(f"these fixers come after each other: {', '.join(sorted(names))}")
        ordered.append(chance.choice(free) if chance else free[0])
        waiting.remove(ordered[-1])
    return ordered


FIXERS = tuple(in_order(discover()))
