"""`w.data`: where it is the tensor itself, and where it stays as it is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....read.uses import Use
from ...facts import Facts
from ...plan import Change, ReplaceSpan, claim

MEASURES = frozenset("size shape dim ndim ndimension numel nelement dtype device cpu numpy tolist item is_cuda".split())


def strip_data(facts: Facts, node: ast.Attribute) -> Iterator[Change]:
    """`w.data` is the tensor itself where it is written to, measured or shown; elsewhere it is cut off from gradients."""
    parent = facts.parents.get(node)
    is_changed = isinstance(parent, ast.Attribute) and parent.attr in facts.reading.symbols.framework.members.in_place
    if not (is_changed or facts.reading.type(node.value).is_tensor or is_parameter(node.value)):
        return
    while isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        parent = facts.parents.get(parent)
    is_entry = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)
    is_written = is_entry or isinstance(node.ctx, ast.Store)
    if is_written and not is_entry and not _is_rewritten(facts, node):
        yield claim(node)  # `p.data, q.data = q.data, p.data` means the same in MindSpore
        return
    is_method = isinstance(parent, ast.Attribute) and (parent.attr.endswith("_") or parent.attr in MEASURES)
    call = facts.parents.get(node)
    is_initialised = isinstance(call, ast.Call) and (
        facts.is_use(Use.INIT_FUNCTION, call.func) or facts.is_use(Use.COLLECTIVE, call.func)
    )
    if is_written or is_method or is_initialised:
        source = facts.source
        dot = source.find_token(b".", source.end(node.value), source.end(node))
        yield ReplaceSpan(dot, source.end(node), "")
        yield claim(node)


def is_parameter(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("weight", "bias")


def is_data_of_parameter(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "data" and is_parameter(node.value)


def _is_rewritten(facts: Facts, node: ast.Attribute) -> bool:
    """Whether `w.data` is all that a statement assigns to, and what holds it is known: `any.grad.data` becomes a call."""
    parent, held = facts.parents.get(node), node.value
    is_alone = isinstance(parent, ast.AugAssign) or (isinstance(parent, ast.Assign) and len(parent.targets) == 1)
    is_unknown = (
        isinstance(held, ast.Attribute) and held.attr == "grad" and not facts.reading.type(held.value).is_tensor
    )
    return is_alone and not is_unknown


def is_data_of_gradient(node: ast.Assign | ast.AugAssign) -> bool:
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    return isinstance(target, ast.Attribute) and getattr(target.value, "attr", "") == "grad"
