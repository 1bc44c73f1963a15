"""A step whose loss is scaled, `scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()`, as the cell and model styles have it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ....read.uses import Use
from ....read.walk import walk_again as walk
from ...plan import Edit, RemoveStatement
from ...refused import Refused
from ..mixed_precision import Options, casts_of, options_of
from .draft import Draft
from .place_lifted_loss import is_clearing
from .steps import Backward

# Options of torch's scaler, as nn.DynamicLossScaleUpdateCell calls them.
OPTIONS = {
    "init_scale": "loss_scale_value",
    "growth_factor": "scale_factor",
    "growth_interval": "scale_window",
    "enabled": "enabled",
}


@dataclass(frozen=True, slots=True)
class Scaling:
    """The loss scale of a step: where it is made, and what goes with it."""

    optimizer: ast.expr
    made: ast.stmt
    options: tuple[tuple[str, ast.expr], ...]

    def removed(self) -> Iterator[Edit]:
        yield RemoveStatement(self.made)


def without_scale(draft: Draft, each: Backward) -> tuple[Backward, Scaling] | None:
    """The step as it would be without the scale; None where its loss has none."""
    match each.loss:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=scaler) as owner, attr="scale"), args=[ast.Name(id=loss) as name]
        ) if _is_scaler(draft, owner):
            pass
        case _:
            return None
    made = _made(draft, scaler)
    step, update = _statements(draft, each, scaler)
    _check_uses(draft, scaler)
    assert isinstance(step.value, ast.Call)
    plain = replace(
        each,
        loss=name,
        inputs=[key for key in each.inputs if key != scaler],
        outputs=[key for key in each.outputs if key != loss],
        step=step,
        idle=[*each.idle, update, *_clearing(draft, each)],
    )
    return plain, Scaling(step.value.args[0], made, _options(made))


def cast_of(draft: Draft, each: Backward) -> Options | None:
    """What the forward pass is cast to by an autocast around it."""
    for statement in each.lifted:
        block = statement if isinstance(statement, ast.With) else draft.enclosing(statement, ast.With)
        if isinstance(block, ast.With) and (casts := casts_of(draft, block)):
            return options_of(draft, casts[0])
    return None


def _is_scaler(draft: Draft, owner: ast.Name) -> bool:
    kind = draft.reading.type(owner)
    return kind.kind == "instance" and draft.uses.has(Use.LOSS_SCALER, kind.qual)


def _made(draft: Draft, scaler: str) -> ast.Assign:
    found = [
        node
        for node in draft.source.of(ast.Assign)
        if any(isinstance(target, ast.Name) and target.id == scaler for target in node.targets)
    ]
    if len(found) != 1 or not isinstance(found[0].value, ast.Call) or len(found[0].targets) != 1:
        raise Refused("its loss scaler is not made in one place of this file")
    return found[0]


def _options(made: ast.stmt) -> tuple[tuple[str, ast.expr], ...]:
    assert isinstance(made, ast.Assign) and isinstance(made.value, ast.Call)
    given = made.value.keywords
    is_device = all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in made.value.args)
    if any(each.arg not in {*OPTIONS, "device"} for each in given) or len(made.value.args) > 1 or not is_device:
        raise Refused("its loss scaler has options that MindSpore's has not")
    return tuple((OPTIONS[str(each.arg)], each.value) for each in given if each.arg != "device")


def _statements(draft: Draft, each: Backward, scaler: str) -> tuple[ast.Expr, ast.Expr]:
    """scaler.step(optimizer) and scaler.update(), after the backward() in its block."""
    block = draft.block_of(each.statement)
    after = block[block.index(each.statement) + 1 :]
    calls: dict[str, ast.Expr] = {}
    for statement in after:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method))) if owner == scaler:
                calls[method] = statement
    match calls.get("step"), calls.get("update"):
        case ast.Expr(value=ast.Call(args=[_], keywords=[])) as step, ast.Expr(value=ast.Call(args=[])) as update:
            return step, update
    raise Refused("its loss scaler does not step and update right after the backward()")


def _clearing(draft: Draft, each: Backward) -> list[ast.Expr]:
    """zero_grad() in the step's block: no gradients are kept any more."""
    return [
        statement
        for statement in draft.block_of(each.statement)
        if isinstance(statement, ast.Expr) and is_clearing(statement.value) and statement not in each.cleared
    ]


def _check_uses(draft: Draft, scaler: str) -> None:
    """Made, scale(), step() and update(), and nothing else."""
    used = [node for node in walk(draft.source.tree) if isinstance(node, ast.Name) and node.id == scaler]
    if len(used) != 4:
        raise Refused("its loss scale is read or changed elsewhere too")
