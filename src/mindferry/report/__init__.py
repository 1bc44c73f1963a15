"""Artifacts -> one HTML page that opens from disk and needs no network; the same as Markdown and JSON."""

from .browser import open_in_browser as open_in_browser
from .content import Report as Report
from .content import content as content
from .watch import watch_report as watch_report
from .write import FORMATS as FORMATS
from .write import REPORT as REPORT
from .write import render as render
from .write import write_report as write_report
