"""`loss.backward()` and `optimizer.step()`: the computation of the loss is lifted into a function for value_and_grad."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..context import Context
from ..imports import delete_statement

PATTERN = "write `def forward_fn(...): return loss` and `loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(...)`"


@dataclass(slots=True)
class Step:
    """One training step that can be lifted."""

    backward: ast.Expr
    optimizer: ast.expr
    step: ast.stmt
    loss: str
    lifted: list[ast.stmt]
    inputs: list[str]
    outputs: list[str]
    anchor: ast.stmt  # the functions go before this statement
    idle: list[ast.stmt] = field(default_factory=list)  # zero_grad
    clips: list[tuple[ast.Expr, ast.Call]] = field(default_factory=list)


_steps: dict[int, list[Step]] = {}


def prepare(context: Context) -> None:
    steps = []
    for node in ast.walk(context.source.tree):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="backward", value=receiver))) if _is_loss(context, receiver):
                step = _read_step(context, node, receiver)
                if step is not None:
                    steps.append(step)
                    for statement in (node, step.step, *step.idle, *(clip for clip, _ in step.clips)):
                        context.handled |= set(ast.walk(statement)) - (
                            set(ast.walk(statement.value)) if statement in dict(step.clips) else set()
                        )
    _steps[id(context)] = steps


def _is_loss(context: Context, receiver: ast.expr) -> bool:
    kind = context.reading.type(receiver)
    return kind.is_tensor or kind.kind in ("unknown", "float", "int", "none")


def _refuse(context: Context, node: ast.AST, reason: str) -> None:
    context.handled |= set(ast.walk(node))
    context.find(node, "MF201", f"this backward() was not lifted: {reason}", PATTERN)


def _read_step(context: Context, backward: ast.Expr, receiver: ast.expr) -> Step | None:
    if not isinstance(receiver, ast.Name):
        _refuse(context, backward, "it is not called on a plain name")
        return None
    if backward.value.args or backward.value.keywords:  # type: ignore[attr-defined]
        _refuse(context, backward, "it takes arguments")
        return None
    block = context.block_of(backward)
    position = block.index(backward)
    steps = [each for each in block[position + 1 :] if _method(context, each, "step") == "optimizer"]
    if len(steps) != 1:
        _refuse(context, backward, "the optimizer's step() is not in the same block")
        return None
    others = [each for each in block if each is not backward and _calls(each, "backward")]
    if others:
        _refuse(context, backward, "several backward() calls share a block")
        return None
    lifted = _slice(context, block[:position], receiver.id)
    if not lifted:
        _refuse(context, backward, f"where {receiver.id} is computed can't be seen from here")
        return None
    function = context.enclosing(backward, ast.FunctionDef, ast.AsyncFunctionDef)
    body = function if function is not None else context.source.tree
    optimizer = steps[0].value.func.value  # type: ignore[attr-defined]
    step = Step(backward, optimizer, steps[0], receiver.id, lifted, [], [], lifted[0])
    step.idle = [each for each in block if _method(context, each, "zero_grad")]
    step.clips = [(each, each.value) for each in block[position + 1 :] if isinstance(each, ast.Expr) and _is_clip(context, each)]  # type: ignore[misc]
    step.anchor = _anchor(context, backward, optimizer, body)
    step.inputs, step.outputs = _flow(context, step, body)
    return step


def _calls(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == name for each in ast.walk(node))


def _method(context: Context, statement: ast.stmt, name: str) -> str:
    """'optimizer' or 'module' if the statement is `thing.name()` on one of these."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr, value=receiver), args=arguments)) if attr == name and (
            not arguments or name != "step"
        ):
            kind = context.reading.type(receiver)
            if kind.kind == "instance":
                base = context.reading.symbols.torch_base(kind.qual)
                if base.startswith("torch.optim.") and not base.startswith("torch.optim.lr_scheduler"):
                    return "optimizer"
                return "module" if context.reading.symbols.is_module(kind.qual) and name == "zero_grad" else ""
            text = context.source.text(receiver).lower()
            return "optimizer" if kind.kind == "unknown" and "opt" in text and "sched" not in text else ""
    return ""


def _is_clip(context: Context, statement: ast.Expr) -> bool:
    return isinstance(statement.value, ast.Call) and context.api(statement.value.func) == "torch.nn.utils.clip_grad_norm_"


def _names(node: ast.AST, kind: type) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, kind)}


def _slice(context: Context, before: list[ast.stmt], loss: str) -> list[ast.stmt]:
    """The statements that the loss is computed by, from the first that runs a network."""
    needed = {loss}
    chosen: list[ast.stmt] = []
    for statement in reversed(before):
        if _names(statement, ast.Store) & needed:
            chosen.insert(0, statement)
            needed |= _names(statement, ast.Load)
    first = next((index for index, each in enumerate(chosen) if _runs_network(context, each)), None)
    return chosen[first:] if first is not None else []


def _runs_network(context: Context, statement: ast.stmt) -> bool:
    symbols = context.reading.symbols
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            function = context.reading.type(node.func)
            if function.kind == "instance" and symbols.is_module(function.qual):
                return True
            if function.kind == "unknown" and _may_be_network(node.func):
                return True
            if any(
                context.reading.type(each).kind == "instance" and symbols.is_module(context.reading.type(each).qual) for each in node.args
            ):
                return True
            if function.kind == "method" and isinstance(node.func, ast.Attribute):
                owner = context.reading.type(node.func.value)
                if owner.kind == "instance" and symbols.is_module(owner.qual):
                    return True
    return False


def _may_be_network(function: ast.expr) -> bool:
    """A name or an attribute of self that is called, and nothing is known about: `net(x)`, `self.net(x)`."""
    is_own = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"
    return isinstance(function, ast.Name) or is_own


def _anchor(context: Context, backward: ast.stmt, optimizer: ast.expr, body: ast.AST) -> ast.stmt:
    """Before the outermost loop at whose start the optimizer exists; without a loop, before the lifted code."""
    loops: list[ast.stmt] = []
    current: ast.AST = backward
    while (parent := context.parents.get(current)) is not None and parent is not body:
        if isinstance(parent, ast.For | ast.While):
            loops.append(parent)
        current = parent
    name = optimizer.id if isinstance(optimizer, ast.Name) else ""
    usable = [loop for loop in loops if not name or name not in _names(loop, ast.Store)]
    return usable[-1] if usable else context.statement_of(backward)


def _flow(context: Context, step: Step, body: ast.AST) -> tuple[list[str], list[str]]:
    lifted = set(step.lifted)
    assigned = {name for each in step.lifted for name in _names(each, ast.Store)}
    loop = step.anchor if isinstance(step.anchor, ast.For | ast.While) else None
    outside = [each for each in ast.walk(loop or body) if isinstance(each, ast.Name) and not _within(context, each, lifted)]
    varying = {each.id for each in outside if isinstance(each.ctx, ast.Store)}
    if loop is None and isinstance(body, ast.FunctionDef | ast.AsyncFunctionDef):
        varying |= {each.arg for each in body.args.args if context.reading.type(each).kind != "instance"} & _tensor_names(context, step)
    read: list[str] = []
    seen: set[str] = set()
    for statement in step.lifted:
        for each in sorted(
            (n for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)), key=context.source.start
        ):
            if each.id not in seen and each.id in varying:
                read.append(each.id)
        seen |= _names(statement, ast.Store)
    everywhere = [each for each in ast.walk(body) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    used = {each.id for each in everywhere if not _within(context, each, lifted | {step.backward})}
    outputs = [
        name for name in dict.fromkeys(n for s in step.lifted for n in _stored_in_order(context, s)) if name in used and name != step.loss
    ]
    return list(dict.fromkeys(read)), [name for name in outputs if name in assigned]


def _tensor_names(context: Context, step: Step) -> set[str]:
    return {
        each.id
        for statement in step.lifted
        for each in ast.walk(statement)
        if isinstance(each, ast.Name) and context.reading.type(each).kind in ("tensor", "unknown")
    }


def _stored_in_order(context: Context, statement: ast.stmt) -> list[str]:
    nodes = [each for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    return [each.id for each in sorted(nodes, key=context.source.start)]


def _within(context: Context, node: ast.AST, statements: set[ast.stmt] | set[ast.stmt | ast.Expr]) -> bool:
    current: ast.AST | None = node
    while current is not None:
        if current in statements:
            return True
        current = context.parents.get(current)
    return False


def finish(context: Context) -> None:
    taken: dict[str, int] = {}
    for step in _steps.pop(id(context), []):
        _write(context, step, _suffix(context, taken))


def _suffix(context: Context, taken: dict[str, int]) -> str:
    taken["steps"] = taken.get("steps", 0) + 1
    return "" if taken["steps"] == 1 else f"_{taken['steps']}"


def _write(context: Context, step: Step, suffix: str) -> None:
    forward, grad, grads = f"forward_fn{suffix}", f"grad_fn{suffix}", f"grads{suffix}"
    optimizer = context.edits.text(step.optimizer)
    before = context.source.text(step.backward)
    result = f"({step.loss}, {', '.join(step.outputs)})" if step.outputs else step.loss
    call = f"{result}, {grads} = {grad}({', '.join(step.inputs)})"
    _insert_functions(context, step, forward, grad, optimizer)
    context.edits.replace_node(step.lifted[0], call)
    for statement in (*step.lifted[1:], step.backward, *step.idle):
        delete_statement(context.edits, statement)
    for statement, clip in step.clips:
        limit = context.edits.text(clip.args[1] if len(clip.args) > 1 else next(k.value for k in clip.keywords if k.arg == "max_norm"))
        context.edits.replace_node(statement, f"{grads} = {context.imports.spell('mindspore.ops.clip_by_global_norm')}({grads}, {limit})")
    context.edits.replace_node(step.step, f"{optimizer}({grads})")
    context.rewritten(step.backward, "torch.Tensor.backward", before, call)


def _insert_functions(context: Context, step: Step, forward: str, grad: str, optimizer: str) -> None:
    source, newline = context.source, context.source.newline()
    indent = source.indent(step.anchor)
    inner = indent + "    "
    lines = [f"{indent}def {forward}({', '.join(step.inputs)}):"]
    for index, statement in enumerate(step.lifted):
        start = source.line_start(source.start(statement))
        if index and source.data[source.line_end(source.end(step.lifted[index - 1])) : start].lstrip().startswith(b"#"):
            start = source.line_end(source.end(step.lifted[index - 1]))
        text = context.edits.span(start, source.end(statement))
        old = source.indent(statement)
        lines += [inner + line[len(old) :] if line.startswith(old) else line for line in text.splitlines()]
    lines.append(f"{inner}return {', '.join([step.loss, *step.outputs])}")
    auxiliary = ", has_aux=True" if step.outputs else ""
    value_and_grad = context.imports.spell("mindspore.value_and_grad")
    lines += ["", f"{indent}{grad} = {value_and_grad}({forward}, None, {optimizer}.parameters{auxiliary})"]
    offset = source.line_start(source.start(step.anchor))
    if not source.data[:offset].rstrip(b" \t").endswith(b"\n" + newline.encode()) and offset:
        lines.insert(0, "")
    context.edits.before(offset, newline.join(lines) + newline)
