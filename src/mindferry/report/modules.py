"""Comparison -> the module tree, with the worst error of every module on its own and as the network runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..artifacts import Comparison, Difference

GROUPS = {
    "output": "forward",
    "gradient": "gradient",
    "input gradient": "gradient",
    "parameter": "parameters",
    "buffer": "statistics",
    "update": "update",
}
MODES = ("eval", "train", "jit", "step")
ALONE = ("gradient", "parameter", "buffer")  # measured on the reference's own values alone


@dataclass(frozen=True, slots=True)
class Column:
    group: str  # forward, gradient, parameters, statistics, update
    measure: str  # inherited: the network as it runs; own: on the reference's own values
    mode: str


@dataclass(frozen=True, slots=True)
class Cell:
    """The worst of its kind in a module."""

    error: float
    allowed: float
    passed: bool


@dataclass(frozen=True, slots=True)
class Module:
    path: str  # "" is the network
    cells: tuple[Cell | None, ...]  # one a column
    passed: bool
    is_culprit: bool
    rows: tuple[int, ...]  # which of the comparison's values are its own


@dataclass(frozen=True, slots=True)
class Tree:
    columns: tuple[Column, ...]
    modules: tuple[Module, ...]  # in execution order, parents before children


def tree(comparison: Comparison) -> Tree:
    owners: dict[str, list[int]] = {"": []}
    for index, row in enumerate(comparison.differences):
        for path in _with_parents(_owner(row)):
            owners.setdefault(path, [])
        owners[_owner(row)].append(index)
    columns = _columns(comparison.differences)
    culprits = {_module_of(name, owners) for name in comparison.culprits}
    modules = []
    for path in _in_tree_order(owners):
        rows = [comparison.differences[index] for index in owners[path]]
        cells = tuple(_cell(rows, column) for column in columns)
        modules.append(Module(path, cells, all(row.passed for row in rows), path in culprits, tuple(owners[path])))
    return Tree(columns, tuple(modules))


def strain(row: Difference) -> float:
    """How much of what is allowed was used; above 1 it fails."""
    shares = [_share(row.max_rel, row.tolerance), _share(row.own_error, row.own_tolerance)]
    return max((share for share in shares if not math.isnan(share)), default=0.0)


def has_own_alone(row: Difference) -> bool:
    """Whether nothing was measured there as the network runs."""
    is_copy = row.max_rel == row.own_error and row.tolerance == row.own_tolerance
    return not math.isnan(row.own_error) and (row.kind in ALONE or is_copy)


def _share(error: float, allowed: float) -> float:
    return error / allowed if allowed > 0 else (0.0 if error == 0 else math.nan)


def _owner(row: Difference) -> str:
    """The module that a value belongs to; a parameter's is all but its last name."""
    if row.kind in ("network", "loss"):
        return ""
    return row.name.rpartition(".")[0] if row.kind in ("parameter", "buffer", "update") else row.name


def _module_of(culprit: str, owners: dict[str, list[int]]) -> str:
    return culprit if culprit in owners else culprit.rpartition(".")[0]


def _with_parents(path: str) -> list[str]:
    parts = path.split(".") if path else []
    return [".".join(parts[:count]) for count in range(len(parts) + 1)]


def _in_tree_order(paths: Iterable[str]) -> list[str]:
    """Children under their parent, siblings as they first appear."""
    children: dict[str, list[str]] = {}
    for path in paths:
        if path:
            children.setdefault(path.rpartition(".")[0], []).append(path)
    ordered, waiting = [], [""]
    while waiting:
        path = waiting.pop()
        ordered.append(path)
        waiting += reversed(children.get(path, []))
    return ordered


def _columns(rows: Iterable[Difference]) -> tuple[Column, ...]:
    there = {column for row in rows for column, _, _ in _measured(row)}
    groups = list(dict.fromkeys(GROUPS.values()))
    return tuple(
        sorted(
            there,
            key=lambda c: (
                groups.index(c.group),
                c.measure != "inherited",
                MODES.index(c.mode) if c.mode in MODES else 9,
            ),
        )
    )


def _measured(row: Difference) -> list[tuple[Column, float, float]]:
    """(column, error, allowed) of what was measured: as the network runs, alone, or both."""
    group = GROUPS.get(row.kind)
    if group is None:
        return []
    found = []
    if not has_own_alone(row):
        found.append((Column(group, "inherited", row.mode), row.max_rel, row.tolerance))
    if not math.isnan(row.own_error):
        found.append((Column(group, "own", row.mode), row.own_error, row.own_tolerance))
    return found


def _cell(rows: Iterable[Difference], column: Column) -> Cell | None:
    worst: Cell | None = None
    most = -1.0
    for row in rows:
        for place, error, allowed in _measured(row):
            share = _share(error, allowed)
            share = math.inf if row.note else 0.0 if math.isnan(share) else share
            if place == column and share > most:
                worst, most = Cell(error, allowed, not row.note and not error > allowed), share
    return worst
