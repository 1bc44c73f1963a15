"""`loss.backward()` and what belongs to it: the computation of the loss is lifted into a function that MindSpore differentiates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...facts import Facts
from ...plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, ReplaceNode, Texts, claim, claim_all
from . import derivatives, record_steps, steps
from .draft import Draft
from .write import write

AFTER = (  # every fixer that writes at the end: what is lifted is taken as it is written by then
    "change_held_values",
    "children_by_name",
    "chosen_devices",
    "compare_layer_classes",
    "device_blocks",
    "device_names",
    "forward_names",
    "leading_ones",
    "members_asked_by_name",
    "names_added_to_torch",
    "own_transforms",
    "parameter_names",
    "row_parts",
    "set_training_mode",
    "tensor_members_by_name",
    "whole_slices",
    "written_copies",
    "written_places",
    "written_views",
)


def plan(facts: Facts) -> Iterator[Change]:
    all_steps = facts.derived(steps.find)
    derived, known = derivatives.find(facts) if not all_steps.recorded else ([], [])
    found = all_steps.lifted
    yield from (*known, *all_steps.planned, *record_steps.plan(facts, all_steps.recorded))
    plain: set[ast.stmt] = {
        statement
        for each in found
        if each.step is not None
        for statement in (each.step, *each.idle, *(clip.statement for clip in each.clips))
    }
    for statement in (
        *(own for each in found if each.handed is None for own in (each.statement, *each.merged)),
        *plain,
    ):
        assert isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call)
        yield claim(statement.value, statement.value.func)
    yield from (claim_all(clip.parameters) for each in found if each.step is not None for clip in each.clips)
    yield from _kept_gradients(facts, plain)
    yield AtEnd(partial(_write, facts, all_steps, derived))


def _kept_gradients(facts: Facts, plain: set[ast.stmt]) -> Iterator[Change]:
    """step(), zero_grad() and clipping outside the plain form work on the gradients that the parameters keep."""
    for node in facts.source.calls_named("step", "zero_grad"):
        if not isinstance(node.func, ast.Attribute) or facts.parents.get(node) in plain:
            continue
        if _is_of_super(node.func) and node.func.attr == "step":
            if steps.is_optimizer_method(facts, node, "step"):
                yield claim(node, node.func)  # the base's own step(), which reads what the parameters keep
        elif steps.is_optimizer_method(facts, node, "step") and not node.args and not node.keywords:
            yield from _as_function(facts, node, node.func, "compat.apply_gradients")
        elif steps.is_optimizer_method(facts, node, "step") and len(node.args) == 1 and not node.keywords:
            optimizer = facts.source.text(node.func.value)
            start = facts.source.start(node.args[0])
            yield InsertBefore(start, lambda texts: f"{texts.name('compat.closure_with_gradients')}(")
            yield InsertAfter(node.args[0], f", {optimizer})")
            yield claim(node, node.func)
        elif steps.clears(facts, node):
            yield from _as_function(facts, node, node.func, "compat.clear_gradients")


def _is_of_super(method: ast.Attribute) -> bool:
    match method.value:
        case ast.Call(func=ast.Name(id="super")):
            return True
    return False


def _as_function(facts: Facts, node: ast.Call, method: ast.Attribute, name: str) -> Iterator[Change]:
    owner = facts.source.text(method.value)
    yield ReplaceNode(node, lambda texts: f"{texts.name(name)}({owner})")
    api = facts.framework.of_optimizer(method.attr)
    yield facts.record(node, api, facts.source.text(node), lambda texts: texts.of(node))
    yield claim(node, method)


def _write(facts: Facts, all_steps: steps.Steps, derived: list[derivatives.Derivative], texts: Texts) -> Iterator[Edit]:
    draft, found = Draft(facts, texts), all_steps.lifted
    dropped = yield from derivatives.write(draft, derived, {each for one in found for each in one.lifted})
    yield from write(draft, found, dropped)
    yield from record_steps.write(facts, all_steps.recorded, texts)
