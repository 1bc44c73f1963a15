"""What the conversion is beside what it computes: methods that nothing called, properties, the order of arguments, tables in attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..verify.beside import argument_names, methods_beside, plain_properties, special_methods
from ..verify.golden import Golden
from ..verify.reach import Reach
from ..verify.structure import are_close
from ..verify.surroundings import plain_defaults
from .mindspore_conduct import is_own
from .mindspore_weights import TABLE, Buffers
from .requests import Shortfall

Cell = Any
CLOSE = 1e-4  # of the largest number of a table: one that a constructor computes may be off by its exp


def beside_forward(cell: Cell, golden: Golden, reach: Reach, initial: Buffers) -> Iterator[Shortfall]:
    if not golden.beside:  # Keras' networks, and older files
        return
    own = {path: each for path, each in cell.cells_and_names() if is_own(each)}
    yield from _methods(own, golden, reach)
    yield from _order_of_arguments(own, golden)
    yield from _properties(own, golden)
    yield from _tables(golden, initial)
    yield from other_borders(golden, reach)
    yield from _special_methods(own, golden, reach)
    yield from _constructors(own, golden)
    for path in golden.beside.get("checkpoint hooks", ()):
        why = "the reference's own code has a hook on what is saved or loaded there, and no checkpoint was compared"
        yield Shortfall("checkpoint", path, "not reached", why)


def _special_methods(own: dict[str, Cell], golden: Golden, reach: Reach) -> Iterator[Shortfall]:
    """What says the same on both sides does the same there; what ran was compared."""
    ran = {code.co_qualname for code in reach.lines}
    for path, theirs in golden.beside.get("special", {}).items():
        if path not in own:  # a layer of the framework, or a helper: whoever uses it is compared
            continue
        kind = type(own[path])
        ours = special_methods(kind, "mindspore.")
        for name in dict.fromkeys((*theirs, *ours)):
            if theirs.get(name) != ours.get(name) and f"{kind.__qualname__}.{name}" not in ran:
                why = "it is written otherwise on the two sides, and forward does not call it"
                yield Shortfall("method", f"{kind.__name__}.{name}", "not reached", why)


def _constructors(own: dict[str, Cell], golden: Golden) -> Iterator[Shortfall]:
    """Whoever makes such a network without naming the argument gets another one."""
    for path, theirs in golden.beside.get("makers", {}).items():
        ours = plain_defaults(type(own[path]).__init__) if path in own else {}
        for name in theirs.keys() & ours.keys():
            if theirs[name] != ours[name] and not are_close(theirs[name], ours[name]):
                why = f"its constructor takes {theirs[name]!r} for {name} by default in torch, {ours[name]!r} in MindSpore"
                yield Shortfall("module", path or "the network", "not comparable", why)


def other_borders(golden: Golden, reach: Reach) -> Iterator[Shortfall]:
    """As many comparisons on both sides, of which others take the border in; and limits that the conversion does without."""
    ours = reach.bounds() if reach.lines else None
    if not golden.bounds or not ours:
        return
    outside, inside, limits, _ = golden.bounds
    if outside + inside == sum(ours[:2]) and inside != ours[1]:
        why = (
            f"{inside} comparisons take their border in (`>=`) in torch and {ours[1]} here: a value may lie right on it"
        )
        yield Shortfall("number", "a border", "not comparable", why)
    if limits and not any(ours[2:]):
        why = "the reference's code limits values (clamp and the like), and the conversion's does not: these inputs may not reach that"
        yield Shortfall("number", "a limit", "not comparable", why)


def _methods(own: dict[str, Cell], golden: Golden, reach: Reach) -> Iterator[Shortfall]:
    """Of one class in one line: whoever reads it knows which of them count."""
    kinds = {type(each) for each in own.values()} | reach.made()
    ours = methods_beside(kinds, "mindspore.", {*reach.lines, *reach.called}, reach.is_own) if reach.lines else {}
    for kind in dict.fromkeys((*golden.methods, *ours)):
        names = dict.fromkeys((*golden.methods.get(kind, ()), *ours.get(kind, ())))
        if names:
            why = "forward does not call them: to compare one, name a factory whose forward does"
            yield Shortfall("method", f"{kind}.{', '.join(names)}", "not reached", why)


def _order_of_arguments(own: dict[str, Cell], golden: Golden) -> Iterator[Shortfall]:
    for path, theirs in golden.beside["arguments"].items():
        ours = argument_names(own[path].construct) if path in own else []
        shared = [name for name in theirs if name in ours]
        if shared != [name for name in ours if name in theirs]:
            why = f"its arguments are ({', '.join(theirs)}) in torch and ({', '.join(ours)}) here: a call without names gives each other ones"
            yield Shortfall("module", path or "the network", "not comparable", why)


def _properties(own: dict[str, Cell], golden: Golden) -> Iterator[Shortfall]:
    for path, theirs in golden.beside["properties"].items():
        ours = plain_properties(own[path], "mindspore.") if path in own else {}
        for name in theirs.keys() & ours.keys():
            if theirs[name] != ours[name] and not are_close(theirs[name], ours[name]):
                why = f"it is {theirs[name]!r} in torch, {ours[name]!r} in MindSpore"
                yield Shortfall("property", f"{path}.{name}".lstrip("."), "not comparable", why)


def _tables(golden: Golden, initial: Buffers) -> Iterator[Shortfall]:
    """Numbers of which the inputs may have used a part."""
    import numpy as np

    for name, key in golden.tables.items():
        ours = initial.get(f"{TABLE}{name}")
        if ours is None:
            continue
        right = golden.array(key)
        finite = np.isfinite(right) if right.size == ours.size else None
        largest = float(np.abs(right[finite]).max(initial=0.0)) if finite is not None else 0.0
        if finite is None or not np.allclose(ours, right, rtol=CLOSE, atol=CLOSE * largest, equal_nan=True):
            why = "the numbers there are others than in torch, and these inputs may have used a part of them"
            yield Shortfall("table", name, "not comparable", why)
