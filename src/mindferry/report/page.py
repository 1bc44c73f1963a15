"""Report -> one HTML file: style, script and data inlined, nothing else needed."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from ..artifacts import Difference
from .code import Mark, Sides
from .content import Report
from .modules import Module, has_own_alone

TABS = ("overview", "analysis", "code", "weights", "verification", "training", "performance")
# In this order: each may use what stands before it.
SCRIPTS = (
    "dom",
    "router",
    "card",
    "table",
    "overview",
    "analysis",
    "python",
    "code",
    "weights",
    "verification",
    "curves",
    "training",
    "performance",
    "keys",
    "main",
)


@dataclass(frozen=True, slots=True)
class Watch:
    """A page that is being watched reloads itself when the number in the file `probe` is another than `stamp`."""

    probe: str
    stamp: int


def html(report: Report, watch: Watch | None = None) -> str:
    import jinja2
    from markupsafe import Markup as Trusted  # our own style and script, and JSON in which no tag can begin

    folder = files("mindferry.report")
    style = folder.joinpath("style.css").read_text("utf-8")
    parts = [folder.joinpath("js", f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    script = (
        '"use strict";\n(() => {\nconst report = JSON.parse(document.getElementById("report").textContent);\n'
        + "".join(parts)
        + "})();\n"
    )
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(folder.joinpath("page.html").read_text("utf-8")).render(
        report=report,
        tabs=TABS,
        watch=watch,
        style=Trusted(style),
        style_hash=_hash(style),
        script=Trusted(script),
        script_hash=_hash(script),
        data=Trusted(_json({**_data(report), "watch": asdict(watch) if watch else None})),
        files=[Trusted(_json(_file(each))) for each in report.code],
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(value: Any) -> str:
    """As JSON that can stand inside a script element, whatever its strings hold."""
    return json.dumps(_tidy(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _tidy(value: Any) -> Any:
    """Floats with eight digits; NaN and infinity as null."""
    if isinstance(value, float):
        return float(f"{value:.8g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _tidy(item) for key, item in value.items()}
    return [_tidy(item) for item in value] if isinstance(value, list | tuple) else value


def _data(report: Report) -> dict[str, Any]:
    """All but the text of the files, which is read when a file is opened."""
    return {
        "title": report.title,
        "source": report.source,
        "output": report.output,
        "overview": asdict(report.overview),
        "analysis": [asdict(table) for table in report.analysis],
        "rules": {name: asdict(card) for name, card in report.rules.items()},
        "files": [
            {
                "path": each.path,
                "status": each.status,
                "note": each.note,
                "rewrites": len(each.marks),
                "errors": sum(finding.severity == "error" for finding in each.findings),
                "warnings": sum(finding.severity == "warning" for finding in each.findings),
            }
            for each in report.code
        ],
        "weights": _weights(report),
        "data": [{**asdict(each), "passed": each.passed} for each in report.data.pipelines] if report.data else None,
        "verification": _verification(report),
        "modules": {
            "columns": [asdict(each) for each in report.modules.columns],
            "modules": [_module(each) for each in report.modules.modules],
        }
        if report.modules
        else None,
        "training": asdict(report.training) if report.training else None,
        "plain": asdict(report.plain) if report.plain else None,
        "performance": asdict(report.performance) if report.performance else None,
        "export": asdict(report.export) if report.export else None,
    }


def _file(each: Sides) -> dict[str, Any]:
    return {
        "before": each.before,
        "after": each.after,
        "steps": each.steps,
        "marks": [_mark(mark) for mark in each.marks],
        "findings": [asdict(finding) for finding in each.findings],
    }


def _mark(mark: Mark) -> list[Any]:
    """Text that can be read off the line is left out."""
    before = None if mark.left[2] == len(mark.before) else mark.before
    after = None if mark.right[2] == len(mark.after) else mark.after
    return [mark.rule, mark.left, mark.right, before, after]


def _weights(report: Report) -> dict[str, Any] | None:
    if report.weights is None:
        return None
    return {
        **asdict(report.weights),
        "parameters": [{**asdict(each), "agrees": each.agrees} for each in report.weights.parameters],
    }


def _verification(report: Report) -> dict[str, Any] | None:
    told = report.verification
    if told is None:
        return None
    values = [_value(each) for each in told.differences]
    return {
        "model": told.model,
        "inputs": told.inputs,
        "passed": told.passed,
        "first_divergence": told.first_divergence,
        "outcome": told.outcome,
        "gaps": [f"{gap.name}: {gap.why}" for gap in told.coverage.gaps if gap.matters] if told.coverage else [],
        "culprits": told.culprits,
        "unmatched": told.unmatched,
        "notes": told.notes,
        "diagnosis": told.diagnosis,
        "script": told.script,
        "predictions": asdict(told.predictions) if told.predictions else None,
        "values": values,
    }


def _value(each: Difference) -> dict[str, Any]:
    return {**asdict(each), "own_only": has_own_alone(each)}


def _module(each: Module) -> list[Any]:
    cells = [[cell.error, cell.allowed, cell.passed] if cell else None for cell in each.cells]
    return [each.path, cells, each.passed, each.is_culprit, each.rows]
