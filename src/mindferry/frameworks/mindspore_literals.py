"""Numbers that only one side's code holds, or keeps otherwise: an epsilon, a limit or a size that no input comes near shows in no value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..verify.golden import Golden
from ..verify.literals import only_here, only_there
from ..verify.named import plain_settings
from ..verify.reach import Reach
from .mindspore_conduct import is_own
from .named_in_code import names_any
from .requests import Shortfall

Cell = Any
HOOKS = ("_forward_hook", "_forward_pre_hook")
GRADIENT_HOOKS = frozenset("register_hook register_backward_hook register_backward_pre_hook bprop".split())


def other_literals(reach: Reach, golden: Golden) -> Iterator[Shortfall]:
    """Of the code that ran on both sides."""
    found = reach.literals()
    if golden.literals is None or found is None or not reach.lines:
        return
    ours, known = found
    for each in only_here(ours, golden.known):
        why = f"the conversion's code holds the number (line {ours[each]}), and the reference's does not: what it decides may not have been met"
        yield Shortfall("number", str(each), "not comparable", why)
    for each in only_there(known, golden.literals):
        why = "the reference's code holds the number, and the conversion's does not: what it decides may not have been met"
        yield Shortfall("number", str(each), "not comparable", why)


def kept_in_modules(reach: Reach) -> Iterator[Shortfall]:
    for line, text in reach.stores_in_modules():
        why = f"line {line} of the conversion writes into another module, and nothing there is compared"
        yield Shortfall("state", text, "not comparable", why)


def other_errors(reach: Reach, golden: Golden) -> Iterator[Shortfall]:
    """Errors that only one side's code may raise: what is wrong with an input is told by neither value."""
    ours = reach.raised()
    if golden.raised is None or ours is None or not reach.lines:
        return
    for kind in sorted({*golden.raised, *ours}):
        pair = golden.raised.get(kind, 0), ours.get(kind, 0)
        if pair[0] != pair[1]:
            why = f"the code that ran raises it in {pair[0]} places in {golden.framework} and in {pair[1]} here: some input is refused on one side only"
            yield Shortfall("error", kind, "not comparable", why)


def lost_gradient_hooks(cell: Cell, golden: Golden) -> Iterator[Shortfall]:
    """Where the reference's own code watches gradients, and the conversion has no hook of such a kind at all."""
    kinds = {type(each) for _, each in cell.cells_and_names() if is_own(each)} if golden.gradient_hooks else set()
    if any(names_any(kind, GRADIENT_HOOKS, "mindspore.") for kind in kinds):
        return
    for name in golden.gradient_hooks:
        why = "the reference's own code has a hook on its gradient, and the conversion none: what it does may not have been met"
        yield Shortfall("gradient", name, "not comparable", why)


def lost_hooks(cell: Cell, golden: Golden) -> Iterator[Shortfall]:
    """Hooks of the reference's own that the conversion does without: what they do on other inputs is not known."""
    cells = dict(cell.cells_and_names()) if golden.hooks else {}
    for path, count in golden.hooks.items():
        if sum(len(getattr(cells.get(path), name, None) or ()) for name in HOOKS) < count:
            why = f"{count} of the reference's own hooks {'run' if count > 1 else 'runs'} there, and the conversion has fewer"
            yield Shortfall("module", path or "the network", "not comparable", why)


def other_numbers_kept(cell: Cell, golden: Golden) -> Iterator[Shortfall]:
    """Numbers in attributes of the project's own classes, under one name on both sides."""
    for path, each in cell.cells_and_names():
        theirs = golden.attributes.get(path, {})
        part = golden.parts.get(path)
        if not theirs or part is None or not is_own(each) or part.home.startswith(("torch.", "keras.")):
            continue
        ours = plain_settings(each)
        for name in theirs.keys() & ours.keys():
            pair = theirs[name], ours[name]
            if all(isinstance(value, int | float) for value in pair) and not math.isclose(*pair, rel_tol=1e-6):
                why = f"it is {pair[0]!r} in {golden.framework} and {pair[1]!r} in MindSpore, which does not show on these inputs"
                yield Shortfall("setting", f"{path}.{name}".lstrip("."), "not comparable", why)
