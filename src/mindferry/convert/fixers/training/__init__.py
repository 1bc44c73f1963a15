"""`loss.backward()` and what belongs to it: the computation of the loss is lifted into a function that MindSpore differentiates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...context import Context
from ...facts import Facts
from ...plan import Change, WriteAsYouGo
from . import derivatives, steps
from .write import write

AFTER = ("modes",)


def plan(facts: Facts) -> Iterator[Change]:
    found: list[steps.Backward] = []
    derived: list[derivatives.Derivative] = []
    yield WriteAsYouGo(partial(_prepare, found, derived), partial(_finish, found, derived))


def _prepare(found: list[steps.Backward], derived: list[derivatives.Derivative], context: Context) -> None:
    derived[:] = derivatives.find(context)
    found[:] = steps.find(context)
    plain = {statement for each in found if each.step is not None for statement in (each.step, *each.idle, *each.clips)}
    for each in found:
        for statement in (each.statement, *each.merged):
            call = statement.value
            assert isinstance(call, ast.Call)
            context.handled |= {call, call.func}
    for statement in plain:
        assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        context.handled |= {statement.value, statement.value.func}
    _ledger(context, plain)


def _ledger(context: Context, plain: set[ast.Expr]) -> None:
    """step(), zero_grad() and clipping outside the plain form work on the gradients that the parameters keep."""
    for node in context.source.of(ast.Call):
        if not isinstance(node.func, ast.Attribute) or context.parents.get(node) in plain:
            continue
        if steps.is_optimizer_method(context, node, "step") and not node.args and not node.keywords:
            _as_function(context, node, "compat.apply_gradients")
        elif steps.is_optimizer_method(context, node, "step") and len(node.args) == 1 and not node.keywords:
            wrap, optimizer = (
                context.imports.spell("compat.closure_with_gradients"),
                context.source.text(node.func.value),
            )
            context.edits.before(context.source.start(node.args[0]), f"{wrap}(")
            context.edits.after(context.source.end(node.args[0]), f", {optimizer})")
            context.handled |= {node, node.func}
        elif steps.clears(context, node):
            _as_function(context, node, "compat.clear_gradients")


def _as_function(context: Context, node: ast.Call, name: str) -> None:
    assert isinstance(node.func, ast.Attribute)
    before = context.source.text(node)
    context.edits.replace_node(node, f"{context.imports.spell(name)}({context.source.text(node.func.value)})")
    context.rewritten(node, f"torch.optim.Optimizer.{node.func.attr}", before, context.edits.text(node))
    context.handled |= {node, node.func}


def _finish(found: list[steps.Backward], derived: list[derivatives.Derivative], context: Context) -> None:
    dropped = derivatives.write(context, derived, {statement for each in found for statement in each.lifted})
    write(context, found, dropped)
