"""A plan as the report that users see, and the refusal when it is not complete."""

from __future__ import annotations

from collections.abc import Mapping

from ..artifacts import WeightEntry, WeightsReport
from ..errors import MindferryError
from .match import Plan


class WeightsMismatchError(MindferryError):
    """Some parameters found no place; `report` lists them. Nothing was written."""

    def __init__(self, report: WeightsReport) -> None:
        self.report = report
        super().__init__(_sentence(report))


def report_of(
    plan: Plan, dtypes: Mapping[str, str], source: str, output: str, key: str = "", others: tuple[str, ...] = ()
) -> WeightsReport:
    entries = [
        WeightEntry(name, move.target, move.shape, dtypes.get(name, ""), move.how, move.path)
        for move in (*plan.moves, *plan.aliases)
        for name in move.sources
    ]
    return WeightsReport(
        source,
        output,
        tuple(entries),
        dropped=plan.dropped,
        missing=plan.missing,
        unexpected=plan.unexpected,
        mismatched=plan.mismatched,
        kept=plan.kept,
        key=key,
        others=others,
    )


def _sentence(report: WeightsReport) -> str:
    parts = []
    for kind, names in (
        ("wrong shape or value", report.mismatched),
        ("missing from the file", report.missing),
        ("unexpected in the file", report.unexpected),
    ):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            parts.append(f"{len(names)} {kind} ({', '.join(names[:3])}{more})")
    return f"{report.source}: {'; '.join(parts)}; give a map of names, or take what fits by turning strict off"
