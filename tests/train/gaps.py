"""Projects that don't follow yet: what stops each, as the conversion says it or as the run shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    reason: str
    finding: str = ""  # part of a finding's text: the converter knows, and says so
    failure: str = ""  # part of the error or of the first difference, where no finding tells


GAPS: dict[str, Gap] = {}
