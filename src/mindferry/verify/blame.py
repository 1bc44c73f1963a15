"""Failing rows -> who is wrong by itself, and who only passes on what came in wrong.

In the `own` run every module gets the reference's inputs and gradients, so a failing output is the module's own doing,
and a failing input is its caller's. A gradient that is lost cannot be replaced, and takes along what lies before it:
there, the modules nearest to the loss are to blame.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..artifacts import Difference
from .golden import Golden

NETWORK = "the network"
LOSS = "the loss"
LOST = "no gradient arrives"
ROUNDING = 2.0**-24
BEYOND = 8.0  # times torch's own rounding: more than another order of a sum makes of it


def culprits_of(differences: Iterable[Difference], golden: Golden) -> tuple[str, ...]:
    """Forward culprits in execution order, or else backward ones from the loss on; then parameters and statistics."""
    rows = [d for d in differences if d.own_error > d.own_tolerance]
    modules: dict[str, None] = {}
    for row in rows:
        if row.kind == "output":
            modules[row.name or NETWORK] = None
        elif row.kind == "input":
            modules[caller(row, golden)] = None
    tensors = {"buffer"}
    if not modules and any(row.kind == "loss" and row.mode != "steps" for row in rows):
        modules[LOSS] = None
    if not modules:
        modules = _backward(rows, golden)
        tensors = {"buffer", "parameter", "update"}
    lost = {row.name for row in rows if row.note == LOST}
    explained = {*modules, *lost}
    names = [row.name for row in rows if row.kind in tensors and _owner(row.name) not in explained]
    return (*modules, *dict.fromkeys(names))


def first_of(differences: Sequence[Difference], culprits: Sequence[str]) -> str:
    """The name to look at first; '' if all pass."""
    failing = next((row for row in differences if not row.passed), None)
    if culprits or failing is None:
        return culprits[0] if culprits else ""
    return NETWORK if failing.kind == "network" else _likeliest(differences, failing) or failing.name


def _likeliest(differences: Sequence[Difference], failing: Difference) -> str:
    """Where errors that are each allowed add up: of what ran before, the module that is furthest beyond its own rounding; or ''.

    A slightly wrong norm may stay within the floor, and fail only in the layer behind it, which is right.
    """
    if failing.kind not in ("output", "input", "loss"):
        return ""
    before = differences[: differences.index(failing)]
    ran = [row for row in before if row.kind == "output" and row.mode == failing.mode and not row.incomparable]
    suspect = max(filter(_is_beyond_rounding, ran), key=_in_roundings, default=None)
    return (suspect.name or NETWORK) if suspect is not None else ""


def _in_roundings(row: Difference) -> float:
    """A module's own error, in errors that torch makes there itself."""
    return row.own_error / max(row.own_reference_error, ROUNDING)


def _is_beyond_rounding(row: Difference) -> bool:
    return _in_roundings(row) > BEYOND  # not what was not measured alone: that is nan


def _backward(rows: list[Difference], golden: Golden) -> dict[str, None]:
    lost = {(row.kind, row.mode, row.name) for row in rows if row.note == LOST}
    modules: dict[str, None] = {}
    for row in rows:
        above = _above(row.name)
        if row.kind == "gradient":
            inherited = any(("gradient", row.mode, path) in lost for path in above)
            if row.note != LOST or not (inherited or _is_lost_in_consumer(row, golden, lost)):
                modules[caller(row, golden)] = None
        elif row.kind == "input gradient":
            inherited = any(("gradient", row.mode, path) in lost for path in (row.name, *above))
            if not inherited:  # of several outputs one that has lost its gradient makes this one wrong
                modules[row.name or NETWORK] = None
    return modules


def _above(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(len(parts))]


def _is_lost_in_consumer(row: Difference, golden: Golden, lost: set[tuple[str, str, str]]) -> bool:
    """Whether a module that takes this output as its input has lost the gradient already."""
    calls = golden.modes[row.mode].calls
    outputs = {key for call in calls if (call.path, call.call) == (row.name, row.call) for key in call.outputs}
    consumers = [call for call in calls if any(key in outputs for key, _ in call.inputs)]
    return any(("input gradient", row.mode, call.path) in lost for call in consumers)


def caller(row: Difference, golden: Golden) -> str:
    """The nearest module above that is called itself; a list of modules is not."""
    called = {call.path for call in golden.modes[row.mode].calls} if row.mode in golden.modes else set()
    return next((path for path in reversed(_above(row.name)) if path in called), "") or NETWORK


def _owner(parameter: str) -> str:
    return parameter.rpartition(".")[0] or NETWORK
