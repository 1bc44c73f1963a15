"""`hasattr(m, "weight")`, `getattr(m, "bias", None)` of what may be a layer: MindSpore's has it under another name, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...read.types import MODULE
from ..dispatch import FACES, is_named_like_layer
from ..facts import Facts
from ..plan import Change, ReplaceNode, Texts, claim

RESETS = frozenset({"reset_parameters", "reset_running_stats"})
HELPERS = {"hasattr": "compat.has_member", "getattr": "compat.get_member"}


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name):
        return
    for call in facts.source.calls_named(*HELPERS):
        match call:
            case ast.Call(func=ast.Name(id=asked) as function, args=[owner, ast.Constant(value=str(name)), *_]) if (
                name in FACES or (name in RESETS and asked == "hasattr")
            ) and _may_be_layer(facts, owner):
                yield from _ask(facts, call, function)
            case ast.Call(func=ast.Name(id="getattr") as function, args=[owner, name]) if (
                not isinstance(name, ast.Constant) and _takes_parameters_out(facts) and _may_be_layer(facts, owner)
            ):
                yield from _ask(facts, call, function)


def _ask(facts: Facts, call: ast.Call, function: ast.Name) -> Iterator[Change]:
    helper = HELPERS[function.id]
    yield ReplaceNode(function, _writer(helper), helper=helper)
    yield facts.record(call, facts.framework.network, function.id, helper)
    yield claim(function)


def _takes_parameters_out(facts: Facts) -> bool:
    """`w = getattr(m, name); del m._parameters[name]`: a spectral norm or a dropped weight of the project's own."""
    return facts.source.mentions("_parameters") or facts.source.mentions("delattr")


def _writer(helper: str) -> Callable[[Texts], str]:
    return lambda texts: texts.name(helper)


def _may_be_layer(facts: Facts, owner: ast.expr) -> bool:
    kind = facts.reading.type(owner)
    if not is_named_like_layer(owner):
        return False
    is_layer = kind.kind == "instance" and facts.framework.has(facts.reading.symbols.origin(kind.qual))
    return kind == MODULE or kind.kind in ("unknown", "method") or is_layer
