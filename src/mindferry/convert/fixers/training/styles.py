"""MindSpore's other forms of a step: compiled, as one cell, as Model.train in place of the loop. Refused says why one does not fit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeGuard

from ....read.walk import walk_again as walk
from ...plan import Edit, RemoveStatement, ReplaceNode
from ...refused import Refused
from ..mixed_precision import casts_of
from .compilable import check_compiles
from .compiled_state import check_state
from .draft import Draft
from .scaled import Scaling, cast_of, without_scale
from .steps import Backward

NOT_COMPILED = (ast.With, ast.Try, ast.NamedExpr)
PLAIN_NAME = re.compile(r"[\w.\[\]]+")
CAST_NAME = re.compile(r"\w+\.mixed_precision\([\w.\[\]]+(?:, [\w.]+)?(?:, enabled=[^()]+)?\)")
MORE_THAN_THE_LOSS = "its loss is more than `criterion(net(x), y)`"
NOT_OVER_BATCHES = "its loop is not `for x, y in loader`"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is about to be written, and which statements around it go."""

    draft: Draft
    each: Backward
    gone: frozenset[ast.stmt]  # lifted or without effect, and not needed where they stand
    scaling: Scaling | None = None  # of the loss

    def is_gone(self, statement: ast.stmt) -> bool:
        return statement in self.gone or self.draft.texts.is_removed(statement)

    @property
    def is_updated_at_once(self) -> bool:
        """Whether the optimizer gets the gradients as they come, right after they are taken."""
        block, step = self.draft.block_of(self.each.place), self.each.step
        if step is None or step not in block or self.each.clips or self.each.guards or self.each.rebound:
            return False
        between = block[block.index(self.each.place) + 1 : block.index(step)]
        return all(map(self.is_gone, between))

    @property
    def optimizer(self) -> str:
        if self.scaling is not None:
            return self.draft.texts.of(self.scaling.optimizer)
        assert self.each.step is not None and isinstance(self.each.step.value, ast.Call)
        assert isinstance(self.each.step.value.func, ast.Attribute)
        return self.draft.texts.of(self.each.step.value.func.value)


def with_scaling(step: Step) -> Step:
    """The step as it is without its loss scale, and the scale; a step without one stays as it is."""
    found = without_scale(step.draft, step.each)
    if found is None:
        return step
    each, scaling = found
    return Step(step.draft, each, step.gone | set(each.idle), scaling)


@dataclass(frozen=True, slots=True)
class Cell:
    made: str  # before the loop
    called: str  # in it
    edits: tuple[Edit, ...]


def check_compiled(step: Step, is_asked_for: bool) -> None:
    """Refuses to compile the gradient function of this step; where nobody asked for it, also what is not known to compile."""
    draft = step.draft
    for node in (part for statement in step.each.lifted for part in walk(statement)):
        if isinstance(node, NOT_COMPILED) and not _is_unwrapped(draft, node):
            raise Refused(f"ms.jit takes no `{type(node).__name__.lower()}`")
    if not isinstance(draft.enclosing(step.each.place, *LOOPS, *FUNCTIONS), LOOPS):
        raise Refused("its function is entered anew for every batch, so it would be compiled every time")
    check_state(draft, step.each)
    if not is_asked_for:
        check_compiles(draft, step.each)


LOOPS = (ast.For, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _is_unwrapped(draft: Draft, node: ast.AST) -> bool:
    """A `with` of which only the body is left."""
    return isinstance(node, ast.With) and not draft.texts.of(node).lstrip().startswith("with ")


def _unwrapped(draft: Draft, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of a `with` that goes, such as an autocast."""
    is_cast = isinstance(statement, ast.With) and len(casts_of(draft, statement)) == len(statement.items)
    return statement.body if isinstance(statement, ast.With) and is_cast else [statement]


def as_cell(step: Step, name: str) -> Cell:
    """nn.WithLossCell and nn.TrainOneStepCell; the loop calls one cell."""
    made = _train_cell(step)
    if not step.is_updated_at_once:
        raise Refused("the gradients are changed before the optimizer gets them")
    assert step.each.step is not None
    removed = tuple(RemoveStatement(each) for each in (step.each.step, *step.each.idle))
    return Cell(f"{name} = {made}", f"{step.each.targets[0]} = {name}({', '.join(step.each.inputs)})", removed)


def as_model(step: Step, name: str) -> ReplaceNode:
    """Model.train with LossMonitor and TimeMonitor in place of the loop over batches.

    Such a loop saves nothing, so there is no ModelCheckpoint, which would save after every step; what is saved after the loop stays.
    """
    draft, texts = step.draft, step.draft.texts
    made = _train_cell(step)
    loop, loader = _batch_loop(step)
    if any(
        texts.of(node).endswith(".set_train(False)") for node in walk(step.each.scope) if isinstance(node, ast.Call)
    ):
        raise Refused("a network is in evaluation mode near it, and Model.train puts all into training mode")
    whole, epochs = loop, "1"
    match draft.parents[loop]:
        case ast.For(iter=ast.Call(args=[count], keywords=[])) as owner if _is_epoch_loop(step, owner, loop):
            whole, epochs = owner, texts.of(count)
    columns = step.each.inputs
    train = texts.name("mindspore.train")
    lines = [
        f"{name} = {train}.Model({made})",
        f"dataset = {texts.name('compat.as_dataset')}({texts.of(loader)}, {columns!r})",
        f"callbacks = [{train}.LossMonitor({_print_interval(loop)}), {train}.TimeMonitor()]",
        f"{name}.train({epochs}, dataset, callbacks=callbacks, dataset_sink_mode=False)",
    ]
    indent = draft.source.indent(whole)
    return ReplaceNode(whole, (draft.source.newline() + indent).join(lines), swallows=True)


def _train_cell(step: Step) -> str:
    nn = step.draft.texts.name("mindspore.nn")
    network, loss, count = _network_and_loss(step)
    network = _cast(step, network)
    joined = f"{nn}.WithLossCell({network}, {loss})"
    if len(step.each.inputs) != 2 or count != 1:
        joined = f"{step.draft.texts.name('compat.NetworkWithLoss')}({network}, {loss}, {count})"
    if step.scaling is None:
        return f"{nn}.TrainOneStepCell({joined}, {step.optimizer})"
    options = "".join(f", {name}={step.draft.texts.of(value)}" for name, value in step.scaling.options)
    return f"{step.draft.texts.name('compat.scaled_train_cell')}({joined}, {step.optimizer}{options})"


def _cast(step: Step, network: str) -> str:
    """With mixed precision where the forward pass ran under an autocast; on a CPU it does nothing."""
    options = cast_of(step.draft, step.each)
    if options is None:
        return network
    loop = step.draft.enclosing(step.each.place, ast.For, ast.While)
    asked = [each for each in (options.kind, options.enabled) if each is not None]
    names = {node.id for each in asked for node in walk(each) if isinstance(node, ast.Name)}
    if loop is not None and names & {node.id for node in walk(loop) if is_stored(node)}:
        raise Refused("the loop itself decides whether it computes in mixed precision, and a network is cast once")
    if "mixed_precision(" in network:
        return network
    return f"{step.draft.texts.name('compat.mixed_precision')}({network}{options.text(step.draft.texts)})"


def is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _network_and_loss(step: Step) -> tuple[str, str, int]:
    """(network, loss, how many parts of a batch the network takes) of `loss = criterion(net(x), y)`, in one statement or in two."""
    each = step.each
    if each.outputs:
        raise Refused("the loop uses more of the forward pass than the loss")
    given: ast.expr
    lifted = [part for statement in each.lifted for part in _unwrapped(step.draft, statement)]
    match [statement for statement in lifted if not step.draft.texts.is_removed(statement)]:
        case [
            ast.Assign(targets=[ast.Name(id=out)], value=ast.Call(args=xs) as inner),
            ast.Assign(targets=[ast.Name(id=loss)], value=ast.Call(args=[ast.Name(id=used) as name, *ys]) as outer),
        ] if used == out:
            given = name
        case [ast.Assign(targets=[ast.Name(id=loss)], value=ast.Call(args=[ast.Call(args=xs) as inner, *ys]) as outer)]:
            given = inner
        case _:
            raise Refused(MORE_THAN_THE_LOSS)
    texts = step.draft.texts
    is_plain = loss == each.result_name and not each.rebound and not each.only and bool(xs)
    if not is_plain or [texts.of(part) for part in (*xs, *ys)] != each.inputs:
        raise Refused(MORE_THAN_THE_LOSS)
    return _called(step.draft, inner, xs), _called(step.draft, outer, [given, *ys]), len(xs)


def _called(draft: Draft, call: ast.Call, arguments: list[ast.expr]) -> str:
    """What is called, once converted, with these arguments and no more."""
    given = f"({', '.join(map(draft.texts.of, arguments))})"
    text = draft.texts.of(call)
    called = text.removesuffix(given)
    if called == text or not (PLAIN_NAME.fullmatch(called) or CAST_NAME.fullmatch(called)):
        raise Refused(MORE_THAN_THE_LOSS)
    return called


def _batch_loop(step: Step) -> tuple[ast.For, ast.expr]:
    """The loop that does nothing but this step, and what it goes through."""
    draft, each = step.draft, step.each
    loop = draft.parents[each.place]
    if not isinstance(loop, ast.For) or each.place not in loop.body or not step.is_updated_at_once or loop.orelse:
        raise Refused("its loop over the batches does more than one plain step")
    loader, columns, unpacking = _batches(step, loop)
    if each.inputs != columns:
        raise Refused("the batch is changed before the step")
    own = {each.place, each.statement, each.step, unpacking}
    others = [statement for statement in loop.body if statement not in own and not step.is_gone(statement)]
    tallies = _tallies(step, loop)
    more = next((statement for statement in others if not _only_prints(statement, tallies)), None)
    if more is not None:
        raise Refused(f"its loop does more than step and print: `{draft.texts.of(more).splitlines()[0]}`")
    if _is_read_outside(step, {each.targets[0]}, loop):
        raise Refused("the last loss is used after the loop")
    return loop, loader


def _batches(step: Step, loop: ast.For) -> tuple[ast.expr, list[str], ast.stmt | None]:
    """The loader, the names of a batch's parts, and the statement that takes the batch apart where the loop itself does not."""
    target, loader = loop.target, loop.iter
    match loop.iter, loop.target:
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *start]), ast.Tuple(elts=[_, part]) if len(start) < 2:
            target, loader = part, inner
    if not isinstance(loader, ast.Name | ast.Attribute):
        raise Refused(NOT_OVER_BATCHES)
    left = [statement for statement in loop.body if not step.draft.texts.is_removed(statement)]
    match target, left[0]:
        case ast.Tuple(elts=parts), _ if columns := _names(parts):
            return loader, columns, None
        case ast.Name(id=batch), ast.Assign(targets=[ast.Tuple(elts=parts)]) as statement if columns := _names(parts):
            one_by_one = ", ".join(f"{batch}[{place}]" for place in range(len(columns)))
            if step.draft.texts.of(statement.value).strip("()") in (batch, one_by_one):
                return loader, columns, statement
    raise Refused(NOT_OVER_BATCHES)


def _names(parts: list[ast.expr]) -> list[str]:
    """Those of a batch's parts, if all are plain names."""
    names = [each.id for each in parts if isinstance(each, ast.Name)]
    return names if len(names) == len(parts) > 1 else []


def _print_interval(loop: ast.For) -> str:
    """`if step % 100 == 0: print(...)`: how often the loop prints; '' for every step."""
    for node in loop.body:
        match node:
            case ast.If(
                test=ast.Compare(left=ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int() as count)), ops=[ast.Eq()])
            ) if count > 0:
                return str(count)
    return ""


def _tallies(step: Step, loop: ast.For) -> set[str]:
    """Sums of losses that are kept to be printed: `running_loss += loss.item()`, and nothing outside the loop reads it."""
    added = (node.target for node in loop.body if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add))
    names = {target.id for target in added if isinstance(target, ast.Name)}
    return names - _read(walk(step.each.scope), within=loop)


def _read(nodes: Iterable[ast.AST], within: ast.AST) -> set[str]:
    """Names that are read outside of a part of them."""
    inside = set(walk(within))
    return {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in inside
    }


def _is_read_outside(step: Step, names: set[str], loop: ast.For) -> bool:
    after = (node for node in walk(step.each.scope) if getattr(node, "lineno", 0) > (loop.end_lineno or 0))
    return bool(_read(after, within=loop) & names)


def _only_prints(node: ast.stmt, tallies: set[str]) -> bool:
    """Prints, or adds up what is printed."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case ast.AugAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
            return name in tallies
        case ast.If(body=body, orelse=[]):
            return all(_only_prints(each, tallies) for each in body)
    return False


def _is_epoch_loop(step: Step, owner: ast.For, loop: ast.For) -> bool:
    """`for epoch in range(n)` around the batches alone; sums begin anew there, and Model.train sets the mode itself."""
    tallies, texts = _tallies(step, loop), step.draft.texts
    left = [
        statement
        for statement in owner.body
        if statement is not loop
        and not texts.is_removed(statement)
        and not _only_prints(statement, tallies)
        and not texts.of(statement).endswith(".set_train()")
    ]
    match owner:
        case ast.For(target=ast.Name(id=epoch), iter=ast.Call(func=ast.Name(id="range")), orelse=[]):
            return not left and not _is_read_outside(step, {epoch}, owner)
    return False
