"""Where a file may change a tensor in place, told by the words there: few of its calls and attributes need a closer look."""

from __future__ import annotations

import ast

from ...facts import Facts
from .arguments import is_given_true

COLLECTIVES = frozenset({"all_reduce", "broadcast", "reduce"})  # the first argument takes the result


def may_change(facts: Facts) -> list[ast.AST]:
    """Each after what it stands in."""
    source = facts.source
    attributes = (node for name in ("data", "grad") for node in source.members.get(name, ()))
    marks = (source.parents[call] for call in source.calls_named("requires_grad_"))
    methods = [name for name in {*source.members, *source.named} if name.endswith("_") or name in COLLECTIVES]
    calls = [call for call in source.of(ast.Call) if call.keywords and is_given_true(call, "inplace")]
    calls += source.calls_named(*methods)
    statements = [node for node in source.of(ast.Assign) if not isinstance(node.targets[0], ast.Name)]
    found: set[ast.AST] = {*attributes, *calls, *statements, *source.of(ast.AugAssign)}
    found |= {node for node in marks if isinstance(node, ast.Expr)}
    return source.in_tree_order(found)
