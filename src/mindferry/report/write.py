"""Writes the report as HTML, Markdown or JSON."""

from __future__ import annotations

from pathlib import Path

from ..artifacts import dumps
from ..files import write_text
from .content import Report, content
from .page import Watch, html

REPORT = "mindferry-report.html"
FORMATS = ("html", "markdown", "json")


def render(report: Report, form: str, watch: Watch | None = None) -> str:
    if form == "json":
        return dumps(report)
    if form == "markdown":
        from .markdown import markdown

        return markdown(report)
    return html(report, watch)


def write_report(converted: Path, output: Path | None = None) -> Path:
    """The HTML page of a converted project, in its folder unless said otherwise."""
    path = output or converted / REPORT
    write_text(path, render(content(converted), "html"))
    return path
