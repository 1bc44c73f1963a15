"""`copy.deepcopy(x)`: in MindSpore, what is written to a deep copy of a tensor is written to the tensor too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...apis.quirks import applies
from ..facts import Facts
from ..plan import AtNode, Change, Edit, ReplaceNode, Texts

PLAIN = frozenset({"int", "float", "bool", "str", "none", "size"})


def plan(facts: Facts) -> Iterator[Change]:
    source = facts.source
    is_likely = source.mentions("deepcopy") and source.mentions(facts.framework.name)
    if not is_likely or not applies("deep copies", facts.settings.target):
        return
    for call in facts.calls_where("copy.deepcopy".__eq__):
        if len(call.args) == 1 and _may_hold_tensors(facts, call.args[0]):
            yield AtNode(call, partial(_copy, facts, call))


def _may_hold_tensors(facts: Facts, node: ast.expr) -> bool:
    """Not a number, and not a network or its weights: parameters are copied as they should be."""
    kind = facts.reading.type(node)
    is_network = kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)
    is_weights = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "state_dict"
    is_written_out = not any(isinstance(each, ast.Name) for each in ast.walk(node))
    return kind.kind not in PLAIN and not (is_network or is_weights or is_written_out)


def _copy(facts: Facts, call: ast.Call, texts: Texts) -> Iterator[Edit]:
    before = facts.source.text(call)
    yield ReplaceNode(call.func, texts.name("compat.deepcopy"))
    yield facts.record(call, "deep copy", before, texts.of(call))
