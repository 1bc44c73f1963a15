"""Several networks of one run, compared one by one, as one Comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..artifacts import Comparison
from .use import Comparable


def joined(found: Sequence[Comparable], results: Sequence[Comparison], missing: Sequence[str]) -> Comparison:
    """Where there is more than one, names begin with the network's class."""
    notes = tuple(f"not compared by itself: {each}" for each in missing)
    if len(results) == 1:
        only = results[0]
        shapes = "; ".join(found[0].network.shapes[:1])
        return replace(only, inputs=f"{shapes}, as the run gave it", notes=(*only.notes, *notes))
    names = [each.network.name.rpartition(".")[2] for each in found]
    wrong = next((index for index, each in enumerate(results) if not each.passed), -1)
    first = f"{names[wrong]}.{results[wrong].first_divergence}" if wrong >= 0 else ""
    return Comparison(
        ", ".join(each.model for each in found),
        "; ".join(each.network.shapes[0] for each in found if each.network.shapes),
        tuple(
            replace(row, name=f"{name}.{row.name}" if row.name else name)
            for name, each in zip(names, results, strict=True)
            for row in each.differences
        ),
        None,
        all(each.passed for each in results),
        first,
        sum(each.seconds for each in results),
        tuple(f"{name}.{path}" for name, each in zip(names, results, strict=True) for path in each.culprits),
        tuple(f"{name}.{path}" for name, each in zip(names, results, strict=True) for path in each.unmatched),
        (*dict.fromkeys(note for each in results for note in each.notes), *notes),
        tuple(line for each in results for line in each.diagnosis),
        next((each.script for each in results if each.script), ""),
    )
