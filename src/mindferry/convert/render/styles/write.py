"""Writes a step in another style, or says why it can't be."""

from __future__ import annotations

import ast

from ...refused import Refused
from .edit import Text
from .steps import Step

NOT_COMPILED = (ast.With, ast.Try, ast.NamedExpr)


def compiled(step: Step, text: Text) -> bool:
    """`grad_fn = ms.jit(ms.value_and_grad(...))`, and the update as a second graph. Returns whether a helper is needed for that."""
    unsupported = next((node for node in ast.walk(step.forward) if isinstance(node, NOT_COMPILED)), None)
    if unsupported is not None:
        raise Refused(f"ms.jit takes no `{type(unsupported).__name__.lower()}`")
    if not any(isinstance(node, ast.For | ast.While) for node in _outwards(step.call, text)):
        raise Refused("its function is entered anew for every batch, so it would be compiled every time")
    called = text.of(step.maker_call.func)
    jit = f"{called.removesuffix('.value_and_grad')}.jit"
    made = f"{text.of(step.maker.targets[0])} = {jit}({text.of(step.maker_call)})"
    if step.update is None:
        text.replace(step.maker, step.maker, made)
        return False
    assert isinstance(step.update.value, ast.Call)
    name = _free("update", text)
    text.replace(step.maker, step.maker, f"{made}\n{name} = ms_compat.compiled_update({text.of(step.optimizer)})")
    text.replace(step.update, step.update, f"{name}({text.of(step.update.value.args[0])})")
    return True


def as_cell(step: Step, text: Text) -> None:
    """nn.WithLossCell and nn.TrainOneStepCell; the loop calls one cell."""
    network, loss = _network_and_loss(step, text)
    if step.update is None:
        raise Refused("the gradients are changed before the optimizer gets them")
    name = _free("train_net", text)
    text.need("from mindspore import nn")
    made = f"{name} = nn.TrainOneStepCell(nn.WithLossCell({network}, {loss}), {text.of(step.optimizer)})"
    text.replace(step.forward, step.maker, made)
    inputs = ", ".join(text.of(each) for each in step.inputs)
    text.replace(step.call, step.update, f"{text.of(step.result)} = {name}({inputs})")


def as_model(step: Step, text: Text) -> None:
    """Model.train with LossMonitor and TimeMonitor in place of the loop over batches.

    Such a loop saves nothing, so there is no ModelCheckpoint, which would save after every step; what is saved after the loop stays.
    """
    network, loss = _network_and_loss(step, text)
    loop, columns = _batch_loop(step, text)
    owner = text.parents[loop]
    epochs, first, last = "1", loop, loop
    if _is_epoch_loop(owner, loop):
        assert isinstance(owner, ast.For) and isinstance(owner.iter, ast.Call)
        epochs, first, last = text.of(owner.iter.args[0]), owner, owner
    if any(
        text.of(node).endswith(".set_train(False)")
        for node in ast.walk(_function(loop, text))
        if isinstance(node, ast.Call)
    ):
        raise Refused("a network is in evaluation mode near it, and Model.train puts all into training mode")
    loader = loop.iter.args[0] if isinstance(loop.iter, ast.Call) else loop.iter
    name = _free("trainer", text)
    text.need("from mindspore import nn")
    text.need("from mindspore.train import LossMonitor, Model, TimeMonitor")
    lines = [
        f"{name} = Model(nn.TrainOneStepCell(nn.WithLossCell({network}, {loss}), {text.of(step.optimizer)}))",
        f"dataset = ms_compat.as_dataset({text.of(loader)}, {columns!r})",
        f"callbacks = [LossMonitor({_print_interval(loop)}), TimeMonitor()]",
        f"{name}.train({epochs}, dataset, callbacks=callbacks, dataset_sink_mode=False)",
    ]
    text.replace(step.forward, step.maker, "")
    text.replace(first, last, "\n".join(lines))


def _network_and_loss(step: Step, text: Text) -> tuple[str, str]:
    """forward_fn must be `loss = criterion(net(x), y)`, in one statement or in two."""
    arguments = [argument.arg for argument in step.forward.args.args]
    if step.maker_call.keywords:
        raise Refused("the loop uses more of the forward pass than the loss")
    match step.forward.body:
        case [
            ast.Assign(targets=[ast.Name(id=out)], value=ast.Call(args=[ast.Name(id=x)], keywords=[]) as inner),
            ast.Assign(
                targets=[ast.Name(id=loss)],
                value=ast.Call(args=[ast.Name(id=used), ast.Name(id=y)], keywords=[]) as outer,
            ),
            ast.Return(value=ast.Name(id=returned)),
        ] if used == out and returned == loss:
            pass
        case [
            ast.Assign(
                targets=[ast.Name(id=loss)],
                value=ast.Call(
                    args=[ast.Call(args=[ast.Name(id=x)], keywords=[]) as inner, ast.Name(id=y)], keywords=[]
                ) as outer,
            ),
            ast.Return(value=ast.Name(id=returned)),
        ] if returned == loss:
            pass
        case _:
            raise Refused("its loss is more than `criterion(net(x), y)`")
    if arguments != [x, y] or len(step.inputs) != 2:
        raise Refused("its loss is more than `criterion(net(x), y)`")
    return text.of(inner.func), text.of(outer.func)


def _batch_loop(step: Step, text: Text) -> tuple[ast.For, list[str]]:
    loop = text.parents[step.call]
    if not isinstance(loop, ast.For) or step.call not in loop.body or step.update is None or loop.orelse:
        raise Refused("its loop over the batches does more than one plain step")
    columns, unpacking = _columns(loop)
    if [text.of(each) for each in step.inputs] != columns:
        raise Refused("the batch is changed before the step")
    others = [each for each in loop.body if each not in (step.call, step.update, unpacking)]
    tallies = _tallies(loop, text)
    more = next((each for each in others if not _only_prints(each, tallies)), None)
    if more is not None:
        raise Refused(f"its loop does more than step and print: `{text.of(more).splitlines()[0]}`")
    loss = text.of(step.result)
    after = [
        node
        for node in ast.walk(_function(loop, text))
        if isinstance(node, ast.Name) and node.id == loss and node.lineno > (loop.end_lineno or 0)
    ]
    if after:
        raise Refused("the last loss is used after the loop")
    return loop, columns


def _columns(loop: ast.For) -> tuple[list[str], ast.stmt | None]:
    """The names of a batch's two parts, and the statement that takes the batch apart where the loop itself does not."""
    target = loop.target
    match loop.iter:
        case ast.Name() | ast.Attribute():
            pass
        case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name() | ast.Attribute(), *start], keywords=_):
            if len(start) > 1 or not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                raise Refused("its loop is not `for x, y in loader`")
            target = target.elts[1]
        case _:
            raise Refused("its loop is not `for x, y in loader`")
    match target, loop.body[0]:
        case ast.Tuple(elts=[ast.Name(id=x), ast.Name(id=y)]), _:
            return [x, y], None
        case (
            ast.Name(id=batch),
            ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name(id=x), ast.Name(id=y)])], value=ast.Name(id=taken)
            ) as statement,
        ) if batch == taken:
            return [x, y], statement
    raise Refused("its loop is not `for x, y in loader`")


def _print_interval(loop: ast.For) -> str:
    """`if step % 100 == 0: print(...)`: how often the loop prints; '' for every step."""
    for node in loop.body:
        match node:
            case ast.If(
                test=ast.Compare(left=ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int() as count)), ops=[ast.Eq()])
            ) if count > 0:
                return str(count)
    return ""


def _tallies(loop: ast.For, text: Text) -> set[str]:
    """Sums of losses that are kept to be printed: `running_loss += loss.item()`, and nothing after the loop reads it."""
    added = {
        node.target.id
        for node in loop.body
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)
    }
    inside = set(ast.walk(loop))
    read = {
        node.id
        for node in ast.walk(_function(loop, text))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in inside
    }
    return added - read


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


def _is_epoch_loop(owner: ast.AST, loop: ast.For) -> bool:
    """`for epoch in range(n)` around the batches alone."""
    match owner:
        case ast.For(
            target=ast.Name(), iter=ast.Call(func=ast.Name(id="range"), args=[_], keywords=[]), body=[only], orelse=[]
        ) if only is loop:
            return True
    return False


def _outwards(node: ast.AST, text: Text) -> list[ast.AST]:
    """What encloses it, up to its function."""
    found = []
    while (node := text.parents.get(node)) is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):  # type: ignore[assignment]
        found.append(node)
    return found


def _function(node: ast.AST, text: Text) -> ast.AST:
    while (parent := text.parents.get(node)) is not None and not isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef
    ):
        node = parent
    return node


def _free(name: str, text: Text) -> str:
    used = {node.id for node in ast.walk(text.tree) if isinstance(node, ast.Name)}
    used |= {node.name for node in ast.walk(text.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    while name in used:
        name += "_"
    return name
