"""Which steps take MindSpore's plain form: gradients are cleared, taken, perhaps clipped, and given to one optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ....read.guesses import looks_like_loss
from ....read.uses import Use
from ....read.walk import walk_again as walk
from ...facts import Facts
from . import flow, sources
from .steps import Backward, Clip, clears, is_optimizer_method, may_wrap_optimizer


def choose(facts: Facts, found: list[Backward]) -> None:
    """Sets the step of those that are plain: all of a function or module, or none of it."""
    groups: dict[ast.AST, list[Backward]] = {}
    for each in found:
        groups.setdefault(each.scope, []).append(each)
    for scope, group in groups.items():
        if _touches_gradients(facts, scope) or _steps_in(facts, [scope]) != len(group):
            continue
        if all(_is_plain(facts, each, group) for each in group) and _owns_all_clips(facts, scope, group):
            continue
        for each in group:
            each.step, each.idle, each.clips = None, [], []


def _touches_gradients(facts: Facts, scope: ast.AST) -> bool:
    """Reads or changes what parameters keep; `autograd.grad(...)` gives gradients of its own."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("grad", "unscale_", "add_param_group")
        and not facts.is_use(Use.DERIVATIVE, node)
        for node in walk(scope)
    )


def _steps_in(facts: Facts, parts: Iterable[ast.AST]) -> int:
    return sum(is_optimizer_method(facts, node, "step") for part in parts for node in walk(part))


def _is_plain(facts: Facts, each: Backward, group: list[Backward]) -> bool:
    """One step of one optimizer right after it, with gradients cleared for it: none of another loss are among them."""
    if each.directions or each.only is not None or each.handed is not None:
        return False
    later = each.block[facts.place_of(each.statement) + 1 :]
    step = next((s for s in later if isinstance(s, ast.Expr) and is_optimizer_method(facts, s.value, "step")), None)
    if step is None or not isinstance(step.value, ast.Call) or not isinstance(step.value.func, ast.Attribute):
        return False
    optimizer = step.value.func.value
    if step.value.args or step.value.keywords or _may_be_none(each, optimizer) or may_wrap_optimizer(facts, optimizer):
        return False
    idle = _cleared_in_block(facts, each) if len(group) == 1 else _cleared_before(facts, each, optimizer)
    between = later[: later.index(step)]
    clips = [clip for clip in (_clip(facts, statement) for statement in between) if clip is not None]
    nets = sources.networks(facts, [*each.lifted, each.loss])
    rest = [statement for statement in between if all(statement is not clip.statement for clip in clips)]
    handles = {flow.key(optimizer), *(nets or [])}
    if not idle or any(flow.reads(s) & handles or _clips(facts, s) or _reads_parameters(s) for s in rest):
        return False  # what gets the optimizer or the network may look at the gradients that parameters keep
    if any(not _is_over_all(facts, each, clip, nets, optimizer) for clip in clips):
        return False
    each.step, each.idle, each.clips = step, idle, clips
    return True


def _cleared_in_block(facts: Facts, each: Backward) -> list[ast.Expr]:
    return [s for s in each.block if isinstance(s, ast.Expr) and clears(facts, s.value)]


def _cleared_before(facts: Facts, each: Backward, optimizer: ast.expr) -> list[ast.Expr]:
    """Where a function has several losses: what clears between the one before and this; none if that is not its own optimizer."""
    found = []
    for statement in flow.upwards(flow.statements_before(facts, each.statement, each.scope)):
        if statement not in each.merged and any(
            isinstance(node, ast.Attribute) and node.attr in ("backward", "manual_backward") for node in walk(statement)
        ):
            break
        if isinstance(statement, ast.Expr) and clears(facts, statement.value):
            found.append(statement)
    owner = facts.source.text(optimizer)
    return found if any(facts.source.text(s.value) == f"{owner}.zero_grad()" for s in found) else []


def _owns_all_clips(facts: Facts, scope: ast.AST, group: list[Backward]) -> bool:
    statements = [node for node in walk(scope) if isinstance(node, ast.Expr | ast.Assign)]
    return sum(_clips(facts, statement) for statement in statements) == sum(len(each.clips) for each in group)


def _reads_parameters(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("parameters", "named_parameters") for node in walk(statement)
    )


def _may_be_none(each: Backward, optimizer: ast.expr) -> bool:
    """`def run(model, loader, opt=None)`: without an optimizer there are no parameters to prepare a gradient function for."""
    if not isinstance(each.scope, ast.FunctionDef | ast.AsyncFunctionDef) or not isinstance(optimizer, ast.Name):
        return False
    arguments = each.scope.args
    optional = [
        *(arguments.args[len(arguments.args) - len(arguments.defaults) :] if arguments.defaults else []),
        *arguments.kwonlyargs,
    ]
    return any(argument.arg == optimizer.id for argument in optional)


def _clips(facts: Facts, node: ast.AST) -> bool:
    """torch's clipping, or somebody's: `accelerator.clip_grad_norm_(...)`."""
    return any(
        isinstance(each, ast.Call)
        and (facts.is_use(Use.CLIPS, each.func) or getattr(each.func, "attr", "").startswith("clip_grad"))
        for each in walk(node)
    )


def _clip(facts: Facts, statement: ast.stmt) -> Clip | None:
    """`clip_grad_norm_(parameters, limit)`, whose norm may be kept, or `clip_grad_value_(parameters, limit)`."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            is_by_value = facts.is_use(Use.CLIPS_VALUE, call.func)
        case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
            is_by_value = False
        case _:
            return None
    if not is_by_value and not facts.is_use(Use.CLIPS_NORM, call.func):
        return None
    names = ("parameters", "clip_value" if is_by_value else "max_norm", *(() if is_by_value else ("norm_type",)))
    given = dict(zip(names, call.args, strict=False)) | {key.arg or "": key.value for key in call.keywords}
    order = given.pop("norm_type", ast.Constant(2))
    is_known = (
        set(given) == set(names[:2]) and len(call.args) <= len(names) and not isinstance(given[names[1]], ast.Starred)
    )
    if not is_known or not isinstance(order, ast.Constant) or order.value != 2:
        return None
    assert isinstance(statement, ast.Expr | ast.Assign)
    return Clip(statement, call, given["parameters"], given[names[1]], is_by_value)


def _is_over_all(facts: Facts, each: Backward, clip: Clip, nets: list[str] | None, optimizer: ast.expr) -> bool:
    """Whether it clips what the optimizer updates: all parameters of the one network that the loss runs."""
    if nets is None:
        nets = [name for name in _called(facts, each) if not looks_like_loss(name.rpartition(".")[2])]
    if len(nets) != 1 or f"{nets[0]}.parameters()" not in facts.source.text(clip.call):
        return False
    return flow.key(optimizer) not in facts.derived(_given_parts)


def _given_parts(facts: Facts) -> set[str]:
    """The variables that are given something which does not take all parameters of one network."""
    return {
        name
        for one in facts.source.of(ast.Assign)
        if isinstance(one.value, ast.Call) and not _takes_whole_network(one.value)
        for target in one.targets
        if (name := flow.key(target))
    }


def _called(facts: Facts, each: Backward) -> set[str]:
    """What its loss calls and may be a network, as variables' names; '' for what is held in none."""
    calls = (node for part in (*each.lifted, each.loss) for node in walk(part) if isinstance(node, ast.Call))
    return {flow.key(call.func) for call in calls if sources.calls_network(facts, call)}


def _takes_whole_network(made: ast.Call) -> bool:
    """`SGD(net.parameters(), ...)`; of a part of a network, or of groups, the norm would be another one."""
    given = [*made.args, *(each.value for each in made.keywords)]
    named = [
        node for each in given for node in walk(each) if isinstance(node, ast.Attribute) and node.attr == "parameters"
    ]
    return all(flow.key(node.value) for node in named)
