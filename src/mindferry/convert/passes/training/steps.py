"""Finds every `loss.backward()` and works out what has to be lifted for it, and what its step is."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ...context import Context
from . import flow

PATTERN = (
    "compute the loss in a function and differentiate that: "
    "`loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(...)`, then `optimizer(grads)`"
)


@dataclass(slots=True)
class Backward:
    """One backward() that can be lifted."""

    statement: ast.Expr
    loss: ast.expr
    scope: ast.AST  # the function or module that it stands in
    block: list[ast.stmt]
    lifted: list[ast.stmt]
    place: ast.stmt  # where the call of the gradient function goes
    retained: list[ast.stmt] = field(default_factory=list)  # lifted, but needed where they stand too
    merged: list[ast.Expr] = field(default_factory=list)  # other backward() calls that this one stands for
    others: list[ast.expr] = field(default_factory=list)  # their losses
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    anchor: ast.stmt | None = None
    step: ast.Expr | None = None  # the plain form: one step() after it, in the same block
    idle: list[ast.Expr] = field(default_factory=list)
    cleared: list[ast.Expr] = field(default_factory=list)  # zero_grad() calls that have to come before `place`
    clips: list[ast.Expr] = field(default_factory=list)


def find(context: Context) -> list[Backward]:
    """All of them; those that can't be lifted become findings."""
    found = []
    for node in context.source.nodes:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="backward", value=loss)) as call) if _is_loss(context, loss):
                result = _read(context, node, call, loss)
                if isinstance(result, Backward):
                    found.append(result)
                else:
                    context.handled |= set(ast.walk(node))
                    context.find(node, "MF201", f"this backward() was not lifted: {result}", PATTERN)
    found = _merge(context, found)
    for each in found:
        _finish(context, each, found)
    return found


def _is_loss(context: Context, node: ast.expr) -> bool:
    return context.reading.type(node).kind in ("tensor", "unknown", "float", "int", "none")


def _read(context: Context, statement: ast.Expr, call: ast.Call, loss: ast.expr) -> Backward | str:
    extra = [each.arg for each in call.keywords if each.arg not in ("retain_graph", "create_graph")]
    if call.args or extra:
        return "it takes a gradient as argument"
    if any(each.arg == "create_graph" for each in call.keywords):
        return "create_graph keeps the graph for a second derivative"
    function = context.enclosing(statement, ast.FunctionDef, ast.AsyncFunctionDef)
    scope = function if function is not None else context.source.tree
    block, before = _statements_before(context, statement, scope)
    lifted = flow.differentiable(context, flow.slice_for(before, loss))
    if not lifted and not flow.runs_network(context, loss):
        return f"where {context.source.text(loss)} is computed can't be seen from here"
    for each in lifted:
        if any(isinstance(node, ast.Attribute) and node.attr in ("backward", "zero_grad", "step") for node in ast.walk(each)):
            return "its loss is computed in a statement that also updates parameters"
        if any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Await) for node in ast.walk(each)):
            return "its loss is computed in a statement that returns or yields"
        if any(isinstance(node, ast.Break | ast.Continue) for node in ast.walk(each)) and not isinstance(each, ast.For | ast.While):
            return "its loss is computed in a statement that leaves the loop"
    return Backward(statement, loss, scope, block, lifted, statement)


def _statements_before(context: Context, statement: ast.stmt, scope: ast.AST) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """(its block, the statements before it), looking out of `if`, `with` and `try` blocks up to the loop or function."""
    block = context.block_of(statement)
    before = block[: block.index(statement)]
    current: ast.AST = statement
    while isinstance(parent := context.parents[current], ast.If | ast.With | ast.Try) and parent is not scope:
        outer = context.block_of(parent)
        before = outer[: outer.index(parent)] + before
        current = parent
    return block, before


def _merge(context: Context, found: list[Backward]) -> list[Backward]:
    """Two losses of one graph, no step between: their gradients add up, so one function returns the sum."""
    result: list[Backward] = []
    for each in sorted(found, key=lambda one: context.source.start(one.statement)):
        last = result[-1] if result else None
        shares = last is not None and last.block is each.block and bool(set(last.lifted) & set(each.lifted))
        if last is None or not shares or _updates_between(last, each):
            result.append(each)
            continue
        each.merged = [*last.merged, last.statement]
        each.others = [*last.others, last.loss]
        each.lifted = sorted(set(last.lifted) | set(each.lifted), key=context.source.start)
        result[-1] = each
    return result


def _updates_between(first: Backward, second: Backward) -> bool:
    start, end = first.block.index(first.statement), second.block.index(second.statement)
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("step", "zero_grad")
        for each in first.block[start + 1 : end]
        for node in ast.walk(each)
    )


def _finish(context: Context, each: Backward, found: list[Backward]) -> None:
    if sum(other.scope is each.scope for other in found) == 1:
        _plain_step(context, each)
    _place(context, each)
    if each.step is None:
        _clear_first(context, each)
    each.anchor = _anchor(context, each)
    _inputs_and_outputs(context, each)


def _place(context: Context, each: Backward) -> None:
    """Where the first lifted statement stands if its inputs are known there; else where the loss is complete."""
    if not each.lifted:
        return
    block = context.block_of(each.lifted[0])
    same = [statement for statement in each.lifted if statement in block]
    if len(same) != len(each.lifted):
        each.place = each.statement
        return
    first, last = block.index(same[0]), block.index(same[-1])
    own = set().union(*(flow.writes(statement) for statement in same))
    needed = set().union(*(flow.reads(statement) for statement in same)) - own
    between = [(index, block[index]) for index in range(first, last) if block[index] not in same]
    late = [index for index, statement in between if flow.writes(statement) & needed]
    readers = [index for index, statement in between if flow.reads(statement) & own]
    if not late:
        each.place = same[0]
    elif not readers or max(late) < min(readers):
        each.place = next(statement for statement in same if block.index(statement) > max(late))
    else:
        each.place = same[-1]
        each.retained = [s for s in same if any(flow.writes(s) & flow.reads(block[index]) for index in readers if index > block.index(s))]


def _clear_first(context: Context, each: Backward) -> None:
    """zero_grad() between the forward and the backward clears before: the gradients of this loss come with the forward here."""
    start, end = context.source.start(each.place), context.source.start(each.statement)
    for node in ast.walk(each.scope):
        if not isinstance(node, ast.Call) or not start < context.source.start(node) < end:
            continue
        if is_optimizer_method(context, node, "step"):
            each.place, each.cleared = each.statement, []
            return
        if _clears(context, node):
            statement = context.parents[node]
            if not isinstance(statement, ast.Expr) or statement not in context.block_of(each.place):
                each.place, each.cleared = each.statement, []
                return
            each.cleared.append(statement)


def _anchor(context: Context, each: Backward) -> ast.stmt:
    """The functions go before the outermost loop whose body doesn't rebind what they are made with."""
    loops: list[ast.stmt] = []
    current: ast.AST = each.place
    while (parent := context.parents.get(current)) is not None and parent is not each.scope:
        if isinstance(parent, ast.For | ast.While):
            loops.append(parent)
        current = parent
    makers = _optimizer_names(context, each.scope)
    usable = [loop for loop in loops if not flow.writes(loop) & makers]
    return usable[-1] if usable else each.place


def _optimizer_names(context: Context, scope: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_optimizer_method(context, node, "step"):
            found.add(flow.key(node.func.value))
    return found - {""}


def _inputs_and_outputs(context: Context, each: Backward) -> None:
    lifted = set(each.lifted)
    loop = each.anchor if isinstance(each.anchor, ast.For | ast.While) else None
    varying = {name for node in _outside(context, loop or each.scope, lifted) for name in flow.writes(node)}
    if loop is None and isinstance(each.scope, ast.FunctionDef | ast.AsyncFunctionDef):
        varying |= {argument.arg for argument in each.scope.args.args if context.reading.symbols and _is_data(context, each, argument.arg)}
    own = {name for statement in each.lifted for name in flow.writes(statement)}
    earlier = flow.read_before_written([*each.lifted, *each.others, each.loss])
    used = {name for node in _outside(context, each.scope, lifted | {each.statement, *each.merged}) for name in flow.reads(node)}
    losses = {flow.key(loss) for loss in (each.loss, *each.others)} if not each.others else set()
    each.inputs = [name for name in earlier if name in varying or name in own]
    each.outputs = [name for name in flow.written_in_order(context, each.lifted) if name in used and name not in losses]


def _is_data(context: Context, each: Backward, name: str) -> bool:
    kinds = [
        context.reading.type(node).kind
        for statement in each.lifted
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == name
    ]
    called = any(isinstance(node, ast.Call) and flow.key(node.func) == name for statement in each.lifted for node in ast.walk(statement))
    return bool(kinds) and not called and all(kind in ("tensor", "unknown", "list", "tuple", "dict") for kind in kinds)


def _outside(context: Context, scope: ast.AST, excluded: set[ast.stmt]) -> list[ast.AST]:
    """The simple parts of a scope that are not within the excluded statements."""
    result: list[ast.AST] = []
    stack: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if node in excluded:
            continue
        if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.Try | ast.ExceptHandler | ast.FunctionDef | ast.withitem):
            stack.extend(ast.iter_child_nodes(node))
        else:
            result.append(node)
    return result


def is_optimizer_method(context: Context, node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=attr, value=receiver)) if attr == name:
            kind = context.reading.type(receiver)
            if kind.kind == "instance":
                base = context.reading.symbols.torch_base(kind.qual)
                return base.startswith("torch.optim.") and not base.startswith("torch.optim.lr_scheduler")
            text = context.source.text(receiver).lower()
            return kind.kind == "unknown" and "opt" in text and "sched" not in text
    return False


def _plain_step(context: Context, each: Backward) -> None:
    """One backward, one step of one optimizer right after it, gradients cleared in the same block: the idiomatic form."""
    block = each.block
    position = block.index(each.statement)
    steps = [s for s in block[position + 1 :] if isinstance(s, ast.Expr) and is_optimizer_method(context, s.value, "step")]
    idle = [s for s in block if isinstance(s, ast.Expr) and _clears(context, s.value)]
    everywhere = [node for node in ast.walk(each.scope) if is_optimizer_method(context, node, "step")]
    touches = any(isinstance(node, ast.Attribute) and node.attr in ("grad", "unscale_") for node in ast.walk(each.scope))
    if len(steps) != 1 or len(everywhere) != 1 or not idle or touches or each.merged or not isinstance(each.loss, ast.Name):
        return
    call = steps[0].value
    assert isinstance(call, ast.Call)
    if call.args or call.keywords:
        return
    between = block[position + 1 : block.index(steps[0])]
    clips = [s for s in between if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and _is_clip(context, s.value)]
    nets = flow.networks(context, [*each.lifted, each.loss])
    handles = {flow.key(call.func.value), *(nets or [])} if isinstance(call.func, ast.Attribute) else set()
    if any(flow.reads(s) & handles or _clips(context, s) for s in between if s not in clips):
        return  # what gets the optimizer or the network may look at the gradients that parameters keep
    if clips and (nets is None or len(nets) != 1 or any(f"{nets[0]}.parameters()" not in context.source.text(clip) for clip in clips)):
        return  # the norm is over other parameters than the optimizer's
    if len(clips) != sum(_clips(context, statement) for statement in ast.walk(each.scope) if isinstance(statement, ast.Expr | ast.Assign)):
        return
    each.step, each.idle, each.clips = steps[0], list(idle), clips


def _clears(context: Context, node: ast.expr) -> bool:
    if is_optimizer_method(context, node, "zero_grad"):
        return True
    match node:
        case ast.Call(func=ast.Attribute(attr="zero_grad", value=receiver)):
            kind = context.reading.type(receiver)
            return kind.kind == "instance" and context.reading.symbols.is_module(kind.qual)
    return False


def _clips(context: Context, node: ast.AST) -> bool:
    return any(isinstance(each, ast.Call) and context.api(each.func).startswith("torch.nn.utils.clip_grad") for each in ast.walk(node))


def _is_clip(context: Context, call: ast.Call) -> bool:
    """The plain clip_grad_norm_(parameters, limit)."""
    names = [keyword.arg for keyword in call.keywords]
    is_plain = (len(call.args), names) in ((2, []), (1, ["max_norm"]))
    return is_plain and context.api(call.func) == "torch.nn.utils.clip_grad_norm_"
