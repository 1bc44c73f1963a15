"""The ledger in one line, for whoever shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .artifacts import Site

OUTCOMES = ("converted", "dispatched", "left", "not torch's")


def summarize_sites(sites: Iterable[Site]) -> str:
    """`312 of 312 accounted: 280 converted, 12 dispatched, 3 left, 17 not torch's`; '' if there are none."""
    counts = Counter(each.outcome for each in sites)
    total, told = sum(counts.values()), sum(counts[each] for each in OUTCOMES)
    parts = ", ".join(f"{counts[each]} {each}" for each in OUTCOMES)
    return f"{told} of {total} accounted: {parts}" if total else ""
