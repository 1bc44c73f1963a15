"""Finds every `loss.backward()` and works out what has to be lifted for it, and what its step is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .... import findings
from ....read.framework import Role
from ....read.guesses import looks_like_accelerator, looks_like_optimizer
from ....read.uses import Use
from ....read.walk import walk_again as walk
from ...facts import Facts
from ...plan import Change, claim_all
from ...refused import Refused
from .. import detach_no_grad_results
from . import (
    asked_parameters,
    flow,
    graph_across_iterations,
    graph_from_caller,
    handed_losses,
    record_steps,
    sources,
    ways_out,
)

RECORD = (
    "; or convert with --record-graphs, and the step runs as it stands, by functions that MindSpore doesn't document"
)
PATTERN = (
    "compute the loss in a function and differentiate that: "
    "`loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(...)`, then `optimizer(grads)`"
)

ALONG = (
    "a gradient that is given, as in `y.backward(g)`, is that of a sum: compute `(y * g).sum()` in a function of what it "
    "depends on, `def forward_fn(x): y = model(x); return (y * g).sum()`, and differentiate that: "
    "`_, grads = ms.value_and_grad(forward_fn, None, model.trainable_params())(x)`"
)
ARGUMENTS = ("gradient", "retain_graph", "create_graph", "inputs")
UPDATES = frozenset(("backward", "manual_backward", "zero_grad", "step"))
ALSO = {"grad_tensors": "gradient"}


@dataclass(slots=True)
class Rebound:
    """A name that lifted statements bind again after others, which are not lifted, have read it: `v = loss.item(); loss /= 2`."""

    first: ast.stmt  # of those that bind it again
    last: ast.stmt
    before: str  # what the function calls the value that the others read
    after: str  # what the final value is called outside until its place comes; "" if nobody reads it


@dataclass(frozen=True, slots=True)
class Clip:
    """What limits the gradients between a plain backward() and its step."""

    statement: ast.Expr | ast.Assign
    call: ast.Call
    parameters: ast.expr
    limit: ast.expr
    is_by_value: bool  # each gradient by itself; else the norm of all


@dataclass(slots=True)
class Backward:
    """One backward() that can be lifted."""

    statement: ast.stmt
    loss: ast.expr
    scope: ast.AST  # the function or module that it stands in
    block: list[ast.stmt]
    lifted: list[ast.stmt]
    place: ast.stmt  # where the call of the gradient function goes
    retained: list[ast.stmt] = field(default_factory=list)  # lifted, but needed where they stand too
    repeated: list[ast.stmt] = field(default_factory=list)  # of these, those that run even where the backward() doesn't
    guards: list[tuple[ast.expr, bool]] = field(
        default_factory=list
    )  # conditions, and whether they must hold, for the backward()
    handed: ast.expr | None = None  # the loss, where the statement hands it to a function that differentiates it
    bound: str = ""  # what the loss is called then, if it has no name
    is_kept_later: bool = False  # gradients are taken at `place` but added up where the backward() stands
    merged: list[ast.stmt] = field(default_factory=list)  # other backward() calls that this one stands for
    others: list[ast.expr] = field(default_factory=list)  # their losses
    directions: dict[ast.expr, ast.expr] = field(default_factory=dict)  # loss -> g, for `y.backward(g)`
    only: ast.expr | None = None  # `backward(inputs=...)`: the parameters that get gradients
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    anchor: ast.stmt | None = None
    step: ast.Expr | None = None  # the plain form: one step() after it, in the same block
    idle: list[ast.Expr] = field(default_factory=list)
    cleared: list[ast.Expr] = field(default_factory=list)  # zero_grad() calls that have to come before `place`
    clips: list[Clip] = field(default_factory=list)
    rebound: dict[str, Rebound] = field(default_factory=dict)
    bound_before: set[str] = field(default_factory=set)  # by lifted statements that have run before, where they stand
    unbound: list[str] = field(default_factory=list)  # outputs that some ways through the function leave unset
    first_values: list[tuple[ast.stmt, str]] = field(
        default_factory=list
    )  # inputs that need one: None before a statement

    @property
    def result_name(self) -> str:
        """The name of the loss, if it is all that is differentiated."""
        return self.loss.id if isinstance(self.loss, ast.Name) and not self.others and not self.directions else ""

    @property
    def targets(self) -> list[str]:
        """What the call of the gradient function binds: the loss and the outputs."""
        name = self.result_name
        first = self.rebound[name].after if name in self.rebound else name
        later = [each.after for key, each in self.rebound.items() if key != name and each.after]
        return [first or self.bound or "_", *self.outputs, *later]

    @property
    def returned(self) -> list[str]:
        """What the function returns beside the loss."""
        values = [self.rebound[name].before if name in self.rebound else name for name in self.outputs]
        return [*values, *(key for key, each in self.rebound.items() if key != self.result_name and each.after)]

    @property
    def gone(self) -> list[ast.stmt]:
        """What the lifted function stands for, and what has no effect beside it."""
        own = [self.statement] if self.handed is None else []
        return [*own, *self.lifted, *self.merged, *self.cleared, *self.idle]

    @property
    def losses(self) -> list[ast.expr]:
        """All that is summed up in the end, and what weights it."""
        return [*self.others, self.loss, *(each for each in self.directions.values() if hasattr(each, "lineno"))]


@dataclass(slots=True)
class Called:
    """A call of backward(), in whatever form, and what it is given by name."""

    statement: ast.stmt
    loss: ast.expr
    call: ast.Call  # with the loss taken out of its arguments
    is_handed: bool = False  # to another function, whose backward() it is
    given: dict[str, ast.expr] = field(default_factory=dict)
    refusal: str = ""  # why it can't be lifted


@dataclass(slots=True)
class Steps:
    """All of a file's."""

    lifted: list[Backward] = field(default_factory=list)
    recorded: list[Called] = field(default_factory=list)  # all of them, if one can't be lifted
    planned: list[Change] = field(default_factory=list)


def find(facts: Facts) -> Steps:
    """Those that can be lifted; if one can't, they all go along recorded graphs, or it becomes a finding."""
    from . import place_lifted_loss, plain_steps, run_twice
    from .trained_parameters import names_parameters

    found: list[Backward] = []
    calls = {each.statement: each for each in _calls(facts)}
    for handing, loss in handed_losses.losses(facts):
        calls[handing] = Called(handing, loss, ast.Call(func=loss, args=[], keywords=[]), is_handed=True)
    for each in calls.values():
        try:
            found.append(_read(facts, each))
        except Refused as reason:
            each.refusal = str(reason)
    lifted = run_twice.Lifted()
    merged = _merge(facts, found)
    plain_steps.choose(facts, merged)
    for one in merged:
        try:
            place_lifted_loss.settle(facts, one, lifted)
            if one.step is None and not names_parameters(facts, one):
                raise Refused(
                    "which parameters it trains can't be seen from here: no network is called and no optimizer steps"
                )
            lifted.add(one)
        except Refused as reason:
            for own_statement in (*one.merged, one.statement):
                calls[own_statement].refusal = str(reason)
    refused = [each for each in calls.values() if each.refusal]
    nested = record_steps.hold_derivatives(facts, (statement for one in lifted.all for statement in one.lifted))
    own = [each for each in calls.values() if not each.is_handed]
    is_recordable = (refused or nested) and record_steps.are_recordable(facts, own)
    if is_recordable and facts.settings.record_graphs:
        for each in own if nested else ():
            each.refusal = each.refusal or "a gradient is taken inside of a loss, where MindSpore can't index a tensor"
        return Steps(recorded=own)
    otherwise = RECORD if is_recordable else ""
    done: set[ast.stmt] = set()
    planned = [handed_losses.passed_on(facts, done), handed_losses.unclear(facts)]
    planned += [handed_losses.taken(facts, each, done) or _refuse(facts, each, otherwise) for each in refused]
    return Steps(lifted.all, [], [change for changes in planned for change in changes])


def _calls(facts: Facts) -> Iterator[Called]:
    for node in facts.source.of(ast.Expr):
        match node:
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr="backward", value=owner), args=[loss], keywords=[])
            ) if _is_accelerator(facts, owner):
                yield Called(node, loss, ast.Call(func=loss, args=[], keywords=[]))
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(attr="manual_backward", value=ast.Name(id="self")), args=[loss, *rest]
                ) as whole
            ):
                yield Called(node, loss, ast.Call(func=loss, args=rest, keywords=whole.keywords))
            case ast.Expr(value=ast.Call() as whole) if facts.is_use(Use.BACKWARD_FUNCTION, whole.func) and (
                taken := _without_tensors(whole)
            ):
                yield Called(node, *taken)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="backward", value=loss)) as call) if _is_loss(
                facts, loss, call
            ):
                yield Called(node, loss, call)


def advice_for(facts: Facts, called: Called) -> str:
    """The pattern to write."""
    known = (graph_across_iterations, graph_from_caller)
    is_given = False
    match called.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="backward") as function, args=[first, *_])):
            is_given = not isinstance(first, ast.Starred) and not facts.is_use(Use.BACKWARD_FUNCTION, function)
        case ast.Expr(value=ast.Call(keywords=keywords)):
            is_given = any(each.arg in ("gradient", "grad_tensors") and not _is_none(each.value) for each in keywords)
    return next((each.ADVICE for each in known if each.MARK in called.refusal), ALONG if is_given else PATTERN)


def _refuse(facts: Facts, called: Called, otherwise: str) -> list[Change]:
    what = "the loss that is handed on here" if called.is_handed else "this backward()"
    message, advice = f"{what} was not lifted: {called.refusal}", advice_for(facts, called) + otherwise
    kept = [] if called.is_handed else [claim_all(called.statement)]
    return [*kept, facts.found(called.statement, findings.MF201, message, advice)]


def _without_tensors(call: ast.Call) -> tuple[ast.expr, ast.Call] | None:
    """What `torch.autograd.backward` differentiates, given by position or by name, and the call with the rest."""
    if call.args:
        return call.args[0], ast.Call(func=call.func, args=call.args[1:], keywords=call.keywords)
    named = [each for each in call.keywords if each.arg == "tensors"]
    rest = [each for each in call.keywords if each.arg != "tensors"]
    return (named[0].value, ast.Call(func=call.func, args=[], keywords=rest)) if named else None


def _is_accelerator(facts: Facts, node: ast.expr) -> bool:
    """`accelerator.backward(loss)`, `self.fabric.backward(loss)`."""
    name = facts.source.text(node).rpartition(".")[2]
    kind = facts.reading.type(node)
    is_open = kind.kind in ("unknown", "method") or kind.qual.startswith(
        ("accelerate.", "lightning.", "pytorch_lightning.")
    )
    return is_open and looks_like_accelerator(name)


def _is_loss(facts: Facts, node: ast.expr, call: ast.Call) -> bool:
    """Not a player that goes `backward("10s")`."""
    kind = facts.reading.type(node).kind
    if (
        kind == "unknown"
        and call.args
        and facts.reading.type(call.args[0]).kind in ("str", "int", "float", "bool", "none", "list", "dict")
    ):
        return False
    return kind in ("tensor", "unknown", "float", "int", "none") or (kind == "foreign" and not call.args)


def _read(facts: Facts, called: Called) -> Backward:
    statement, loss = called.statement, called.loss
    given = called.given = _arguments_of(facts, called.call)
    if _is_set(given.get("create_graph")):
        raise Refused("create_graph may keep the graph for a second derivative")
    function = facts.enclosing(statement, ast.FunctionDef, ast.AsyncFunctionDef)
    scope = function if function is not None else facts.source.tree
    block, before = facts.block_of(statement), flow.statements_before(facts, statement, scope)
    result = Backward(statement, loss, scope, block, [], statement, only=given.get("inputs"))
    if called.is_handed:
        result.handed, result.is_kept_later = loss, True
    if given.get("gradient") is not None or facts.is_use(Use.BACKWARD_FUNCTION, called.call.func):
        result.directions[loss] = given.get("gradient") or ast.Constant(None)
    changed = facts.derived(sources.changed_by_callees)
    chosen = flow.slice_of(facts, ways_out.segments(facts, before), loss, changed, asked_parameters.makes_object)
    lifted = sources.differentiable(facts, chosen)
    lifted = sources.with_their_start(facts, lifted, chosen) if lifted else lifted
    if not lifted and not sources.carries(facts, loss):
        raise Refused(f"where {facts.source.text(loss)} is computed can't be seen from here")
    for each in lifted:
        reason = obstacle(facts, each)
        if reason:
            raise Refused(f"its loss is computed in a statement that {reason} (line {each.lineno})")
        if any(
            detach_no_grad_results.is_chosen(facts, item.context_expr)
            for node in walk(each)
            if isinstance(node, ast.With)
            for item in node.items
        ):
            raise Refused(
                f"line {each.lineno} switches gradients off under a condition; write `x = x.detach() if condition else x` instead"
            )
    kept = graph_across_iterations.across_iterations(facts, statement, loss, lifted, scope)
    if kept := kept or graph_from_caller.begun_elsewhere(facts, loss, lifted, scope):
        raise Refused(kept)
    result.lifted = lifted
    return result


def _arguments_of(facts: Facts, call: ast.Call) -> dict[str, ast.expr]:
    """What `y.backward(...)` or `torch.autograd.backward(y, ...)` is given, by the names of the former."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(key.arg is None for key in call.keywords):
        raise Refused("its arguments can't be told")
    names = dict(zip(ARGUMENTS, call.args, strict=False)) | {key.arg: key.value for key in call.keywords if key.arg}
    names = {ALSO.get(name, name): value for name, value in names.items()}
    if unknown := sorted(set(names) - set(ARGUMENTS)):
        raise Refused(f"{unknown[0]} has no counterpart")
    return {name: value for name, value in names.items() if not _is_none(value)}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_set(node: ast.expr | None) -> bool:
    """Given, and not as a plain False."""
    return node is not None and not (isinstance(node, ast.Constant) and not node.value)


def obstacle(facts: Facts, statement: ast.stmt) -> str:
    """What keeps a statement from standing in another function, or ''."""
    nodes = list(walk(statement))
    cleared = {node.value.func for node in nodes if _only_clears(facts, node, statement)}  # type: ignore[attr-defined]
    if any(_updates(facts, method) for method in _called_methods(nodes) if method not in cleared):
        return "also updates parameters"
    if any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Await) for node in nodes):
        return "returns or yields"
    if any(_imports_framework(facts, node) for node in nodes):
        return "imports"
    return "leaves the loop" if flow.leaves_loop(statement) else ""


def _only_clears(facts: Facts, node: ast.AST, whole: ast.stmt) -> bool:
    """`if decodes: opt_dec.zero_grad(); loss = …`: the old gradients may go inside of the function too, as the new ones come after it."""
    return node is not whole and isinstance(node, ast.Expr) and clears(facts, node.value)


def _imports_framework(facts: Facts, node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(each.name.partition(".")[0] in facts.framework.roots for each in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] in facts.framework.roots
    return False


def _updates(facts: Facts, node: ast.Attribute) -> bool:
    """Whether it is named like an update, and is no method of this file's that only computes: `self.step(batch)`."""
    if node.attr not in UPDATES:
        return False
    owner = facts.reading.type(node.value)
    if owner.kind != "instance" or facts.reading.symbols.role(owner.qual) is Role.OPTIMIZER:
        return True
    methods = facts.derived(_defined).get(f"{owner.qual}.{node.attr}", [])
    return not methods or any(part.attr in UPDATES for each in methods for part in _called_methods(walk(each)))


def _called_methods(nodes: Iterable[ast.AST]) -> Iterator[ast.Attribute]:
    """Not what a number is called: `state.step` of a counter."""
    return (node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))


def _defined(facts: Facts) -> dict[str, list[ast.AST]]:
    """Functions and classes of this file by their full names."""
    found: dict[str, list[ast.AST]] = {}
    for node, qual in facts.reading.owners.items():
        found.setdefault(qual, []).append(node)
    return found


def _merge(facts: Facts, found: list[Backward]) -> list[Backward]:
    """Two losses of one graph, no step between: their gradients add up, so one function returns the sum."""
    result: list[Backward] = []
    for each in sorted(found, key=lambda one: facts.source.start(one.statement)):
        last = result[-1] if result else None
        shares = last is not None and last.block is each.block and bool(set(last.lifted) & set(each.lifted))
        shares = shares and last is not None and last.only is None and each.only is None
        shares = shares and last is not None and last.handed is None and each.handed is None
        if last is None or not shares or _updates_between(last, each):
            result.append(each)
            continue
        each.merged = [*last.merged, last.statement]
        each.others = [*last.others, last.loss]
        each.directions |= last.directions
        each.lifted = sorted(set(last.lifted) | set(each.lifted), key=facts.source.start)
        result[-1] = each
    return result


def _updates_between(first: Backward, second: Backward) -> bool:
    start, end = first.block.index(first.statement), second.block.index(second.statement)
    between = first.block[start + 1 : end]
    return any(node.attr in ("step", "zero_grad") for each in between for node in _called_methods(walk(each)))


def is_optimizer_method(facts: Facts, node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=attr, value=receiver)) if attr == name:
            return is_optimizer(facts, receiver)
    return False


def is_optimizer(facts: Facts, node: ast.expr) -> bool:
    kind = facts.reading.type(node)
    if kind.kind == "instance":
        return facts.reading.symbols.role(kind.qual) is Role.OPTIMIZER
    return kind.kind in ("unknown", "method") and looks_like_optimizer(facts.source.text(node))


def clears(facts: Facts, node: ast.expr) -> bool:
    if is_optimizer_method(facts, node, "zero_grad"):
        return True
    match node:
        case ast.Call(func=ast.Attribute(attr="zero_grad", value=receiver)):
            kind = facts.reading.type(receiver)
            return kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)
    return False


def may_wrap_optimizer(facts: Facts, receiver: ast.expr) -> bool:
    """Whether what steps may be of a class of the project's that holds an optimizer, and is none: it takes no gradients."""
    return facts.reading.type(receiver).kind != "instance" and facts.derived(_has_wrappers)


def _has_wrappers(facts: Facts) -> bool:
    symbols = facts.reading.symbols
    own = {facts.reading.owners.get(node, ""): node for node in facts.source.of(ast.ClassDef)}
    for qual in symbols.classes.with_method("step"):
        if symbols.role(qual) is Role.OPTIMIZER or symbols.is_module(qual):
            continue
        if symbols.method(qual, "zero_grad") is not None or (qual in own and _steps_inside(own[qual])):
            return True
    return False


def _steps_inside(owner: ast.ClassDef) -> bool:
    """`def step(self): self.optimizer.step()`, without arguments."""
    methods = [each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "step"]
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
        for method in methods
        if len(method.args.args) - len(method.args.defaults) <= 1
        for node in walk(method)
    )
