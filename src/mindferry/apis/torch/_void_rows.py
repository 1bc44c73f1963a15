"""What MindSpore's softmax gets wrong: rows of nothing but -inf, and the gradients after one over an axis of length 1."""

from __future__ import annotations

from .._call import Call
from ..quirks import applies

VOID_ROWS = (
    "a row of nothing but -inf leaves the rows after it unwritten on CPU, where torch gives NaN for that row only; "
    "a file that writes -inf gets a helper that minds it; a gradient over an axis of length 1 spoils the later gradients of softmax there"
)


def may_be_void(call: Call) -> bool:
    """Masks are written where they are used: a file without -inf has no such rows."""
    return applies("softmax of -inf", call.rule.target) and call.reading.source.writes_negative_infinity


def may_be_single(call: Call) -> bool:
    """No text tells how long the axis will be: an attention over the first word of a sentence has one entry."""
    return applies("gradient of softmax over one entry", call.rule.target)
