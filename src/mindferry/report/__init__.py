"""Artifacts -> one HTML page that opens from disk and needs no network."""

from .page import REPORT as REPORT
from .page import gather as gather
from .page import write_report as write_report
