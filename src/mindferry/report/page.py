"""Gathers what the stages left behind and renders it with page.html."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..artifacts import STATE, Comparison, Curves, Inventory, ProjectConversion, WeightsReport, load
from ..errors import MindferryError
from ..files import write_text
from .chart import curves_chart
from .sides import file_sides

REPORT = "mindferry-report.html"
STAGES: dict[str, type] = {
    "analyze": Inventory,
    "convert": ProjectConversion,
    "weights": WeightsReport,
    "verify": Comparison,
    "train": Curves,
}


def gather(converted: Path) -> dict[str, Any]:
    """Every artifact that is there, by stage."""
    if not (converted / STATE).is_dir():
        raise MindferryError(f"{converted} holds nothing to report on; run `mindferry migrate PROJECT -o {converted}` first")
    found: dict[str, Any] = {name: load(kind, converted, name) for name, kind in STAGES.items() if (converted / STATE / f"{name}.json").is_file()}
    if not found:
        raise MindferryError(f"{converted / STATE} holds no artifact; run `mindferry migrate PROJECT -o {converted}` first")
    return found


def write_report(converted: Path) -> Path:
    import jinja2

    found = gather(converted)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mindferry.report", ""), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = lambda value: f"{value:.2e}" if isinstance(value, float) and value == value else "–"
    conversion = found.get("convert")
    page = environment.get_template("page.html").render(
        title=Path(conversion.source).name if conversion else converted.name,
        todo=_todo(found),
        passed=_passed(found),
        sides=file_sides(conversion) if conversion else [],
        chart=curves_chart(found["train"]) if "train" in found else "",
        **{name: found.get(name) for name in STAGES},
    )
    path = converted / REPORT
    write_text(path, page)
    return path


def _passed(found: dict[str, Any]) -> bool:
    stages_ok = all(found[name].passed for name in ("verify", "train") if name in found)
    return stages_ok and not _todo(found)


def _todo(found: dict[str, Any]) -> list[tuple[str, str]]:
    """(where, what), in the order in which to do it."""
    items = []
    if "convert" in found:
        errors = [finding for finding in found["convert"].findings if finding.severity == "error"]
        items += [(f"{each.path}:{each.line}", f"{each.message}. {each.advice}") for each in errors]
    if "weights" in found and not found["weights"].complete:
        items.append(("weights", "some parameters found no place: see Weights"))
    if "verify" in found and not found["verify"].passed:
        items.append(("verify", f"first divergence: {found['verify'].first_divergence or 'in the predictions'}"))
    if "train" in found and not found["train"].passed:
        items.append(("train", found["train"].first_difference))
    return items
