"""Everything that the report says, as one dataclass: the same for HTML, Markdown and JSON."""

from __future__ import annotations

import datetime
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..analyze.sheets import sheets
from ..artifacts import Comparison, Curves, PlainRun
from ..tune_record import TuneRecord
from .code import RuleCard, Sides, rule_cards, sides
from .gather import Found, gather
from .modules import Tree, tree
from .overview import Overview, overview
from .parameters import Weights, weights_tab

if TYPE_CHECKING:
    from ..export.result import Export
    from ..verify.data import Pipelines


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the analysis, and where in the code its rows speak of."""

    title: str
    summary: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    at: int  # the column with "path:line" or a path; -1: none


@dataclass(frozen=True, slots=True)
class Report:
    title: str
    source: str
    output: str
    version: str
    made: str
    overview: Overview
    analysis: tuple[Table, ...]
    code: tuple[Sides, ...]
    rules: dict[str, RuleCard]
    weights: Weights | None
    data: Pipelines | None
    verification: Comparison | None
    modules: Tree | None
    training: Curves | None
    plain: PlainRun | None
    performance: TuneRecord | None
    export: Export | None

    @property
    def is_clean(self) -> bool:
        return self.overview.state in ("same", "unmeasured")


def content(folder: Path) -> Report:
    return compose(gather(folder))


def compose(found: Found) -> Report:
    files = tuple(sides(found))
    cards = rule_cards(files)
    newest = max(found.written.values())
    return Report(
        title=found.title,
        source=str(found.source or ""),
        output=str(found.folder.resolve()),
        version=importlib.metadata.version("mindferry"),
        made=datetime.datetime.fromtimestamp(newest, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        overview=overview(found, cards),
        analysis=tuple(_tables(found)),
        code=files,
        rules=cards,
        weights=weights_tab(found),
        data=found.data,
        verification=found.verify,
        modules=tree(found.verify) if found.verify else None,
        training=found.train,
        plain=found.plain,
        performance=found.tune,
        export=found.export,
    )


def _tables(found: Found) -> list[Table]:
    if found.analyze is None:
        return []
    return [
        Table(each.title, each.summary, each.columns, each.rows, _place_column(each.columns))
        for each in sheets(found.analyze)
    ]


def _place_column(columns: tuple[str, ...]) -> int:
    return next((number for number, name in enumerate(columns) if name in ("where", "first at", "file")), -1)
