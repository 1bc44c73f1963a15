"""`nn.Linear(8, 4, bias=None)`, `nn.LSTM(8, 4, bidirectional=1)`: torch asks whether an option is true, MindSpore's layers want a bool."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore, ReplaceNode

FLAGS = frozenset(
    "bias affine track_running_stats elementwise_affine batch_first bidirectional ceil_mode count_include_pad norm_first".split()
)


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.calls_for(Use.NETWORK_PART):
        if facts.is_use(Use.FUNCTIONAL, call.func):
            continue  # whose bias is a tensor
        for given in facts.options_given(call, FLAGS):
            match given:
                case ast.Constant(value=None | int() as value) if not isinstance(value, bool):
                    yield ReplaceNode(given, str(bool(value)))
                case ast.Constant():
                    continue
                case _ if facts.reading.type(given).kind in ("none", "int"):
                    yield InsertBefore(given, "bool(")
                    yield InsertAfter(given, ")")
