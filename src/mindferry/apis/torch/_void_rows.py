"""Softmax over rows of nothing but -inf: whether a file may make them, and so needs the helper that minds them."""

from __future__ import annotations

from .._call import Call
from ..quirks import applies

VOID_ROWS = (
    "a row of nothing but -inf leaves the rows after it unwritten on CPU, where torch gives NaN for that row only; "
    "a file that writes -inf gets a helper that minds it"
)


def may_be_void(call: Call) -> bool:
    """Masks are written where they are used: a file without -inf has no such rows."""
    return applies("softmax of -inf", call.rule.target) and call.reading.source.writes_negative_infinity
