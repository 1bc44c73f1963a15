"""One comparison's parts, and several joined to one verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..frameworks.requests import Measured
from .blame import first_of
from .golden import Golden
from .judge import Verdict


@dataclass(frozen=True, slots=True)
class Result:
    golden: Golden
    measured: Measured
    verdict: Verdict


def needs_full(golden: Golden) -> bool:
    """Where the reference is random, only a second run with another seed tells what can be compared."""
    return any(mode.is_random for mode in golden.modes.values())


def judge_initial(verdict: Verdict, unsteady: Sequence[str]) -> Verdict:
    """Buffers that come out otherwise at every start are not comparable."""
    why = "it is random, or was trained: the two sides start with other values"
    rows = tuple(
        replace(row, passed=True, incomparable=why)
        if row.mode == "init" and not row.passed and not row.note and row.name in unsteady
        else row
        for row in verdict.differences
    )
    failing = {row.name for row in rows if not row.passed}
    culprits = tuple(name for name in verdict.culprits if name not in unsteady or name in failing)
    first = first_of(rows, culprits)
    return replace(verdict, differences=rows, culprits=culprits, first_divergence=first)


def join(verdicts: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Verdicts on several sets of inputs, each with its description; "" for the one that was asked for."""
    rows = []
    for said, verdict in verdicts:
        shown = [row for row in verdict.differences if not said or row.kind == "network" or not row.passed]
        rows += [
            replace(row, inputs=said) if row.mode != "init" else row
            for row in shown
            if not (said and row.mode == "init")
        ]
    culprits = tuple(dict.fromkeys(name for _, verdict in verdicts for name in verdict.culprits))
    first = next((verdict.first_divergence for _, verdict in verdicts if not verdict.passed), "")
    return Verdict(tuple(rows), culprits, first)
