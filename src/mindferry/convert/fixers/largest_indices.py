"""`_, predicted = torch.max(scores, 1)`, `torch.max(scores, 1)[1]`: only where the largest stands is asked for, which is argmax."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, ReplaceSpan, UseRule
from .data_arrays import is_in_data

UNUSED = "_"


def plan(facts: Facts) -> Iterator[Change]:
    for use, other in ((Use.LARGEST, Use.LARGEST_INDEX), (Use.SMALLEST, Use.SMALLEST_INDEX)):
        rule = facts.rules.get(facts.uses.name(other))
        if rule is None:
            continue
        for call in facts.calls_where(lambda api, use=use: facts.uses.has(use, api)):  # type: ignore[misc]
            span = _index_alone(facts, call) if _has_one_dimension(facts, call) else None
            if span is not None and not is_in_data(facts, call):
                yield UseRule(call, rule)
                yield ReplaceSpan(*span)


def _has_one_dimension(facts: Facts, call: ast.Call) -> bool:
    """Along a dimension that is written there; a tensor in its place would make it another function."""
    is_method = isinstance(call.func, ast.Attribute) and facts.reading.type(call.func.value).is_tensor
    given = {each.arg: each.value for each in call.keywords}
    given |= dict(zip(("dim", "keepdim") if is_method else ("input", "dim", "keepdim"), call.args, strict=False))
    value = given.get("dim")
    value = value.operand if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) else value
    return isinstance(value, ast.Constant) and type(value.value) is int and None not in given


def _index_alone(facts: Facts, call: ast.Call) -> tuple[int, int, str] | None:
    """What goes, the target that nobody reads or the subscript, and what stands there instead."""
    parent, source = facts.parents[call], facts.source
    match parent:
        case ast.Subscript(slice=ast.Constant(value=1)) if parent.value is call:
            return source.find_token(b"[", source.end(call), source.end(parent)), source.end(parent), ""
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name), wanted]) as both], value=value) if value is call:
            if name == UNUSED and isinstance(wanted, ast.Name | ast.Attribute) and not _is_read(facts, parent, name):
                return source.start(both), source.end(both), source.text(wanted)
    return None


def _is_read(facts: Facts, statement: ast.Assign, name: str) -> bool:
    scope = facts.enclosing(statement, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    return any(isinstance(each.ctx, ast.Load) for each in facts.source.named_within(name, scope))
