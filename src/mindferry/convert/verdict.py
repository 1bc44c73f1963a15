"""What became of a place in the code that may be torch's."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """What became of a site."""

    CONVERTED = "converted"
    DISPATCHED = "dispatched"
    LEFT = "left"
    NOT_TORCH = "not torch's"


class Verdict(NamedTuple):
    outcome: Outcome
    why: str
    receiver: str = "unknown"  # where the receiver's type comes from: proven, assumed or unknown
