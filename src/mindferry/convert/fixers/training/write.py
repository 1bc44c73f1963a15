"""Writes the lifted function and its call: MindSpore's plain form, or gradients kept on the parameters as torch keeps them."""

from __future__ import annotations

import ast

from .... import findings
from ...context import Context
from ...render.imports import delete_statement
from . import flow, sources
from .steps import Backward


def write(context: Context, found: list[Backward], dropped: set[ast.stmt]) -> None:
    """First all texts, then all edits: one statement may stand in several functions. What is dropped is needed nowhere any more."""
    names = {node.id for node in context.source.of(ast.Name)}
    counts: dict[ast.AST, int] = {}
    planned = []
    calls: dict[ast.stmt, str] = {}
    for each in found:
        counts[each.scope] = number = counts.get(each.scope, 0) + 1
        forward = _free(f"forward_fn{'' if number == 1 else f'_{number}'}", names)
        lines = _function(context, each, forward, dropped)
        later = ""
        if each.step is not None:
            call, maker = _plain(context, each, forward, names)
            lines += ["", maker]
        elif each.is_kept_later:
            names.add(grads := _free("grads", names))  # another one may wait in the same block
            call, later = _kept_later(context, each, forward, grads)
            lines += [""]
        else:
            call = "\n".join(
                [*(context.edits.text(statement) for statement in each.cleared), _kept(context, each, forward)]
            )
            lines += [""]
        call = _indented(context, each, _guarded(context, each, call, forward))
        if each.place in calls:  # two losses begin with the same statement
            call = calls[each.place] + _line_break(context, each.place) + call
        calls[each.place] = call
        planned.append((each, lines, call, later))
    retained = {statement for each in found for statement in each.retained}
    places = {each.place for each in found}
    for each, _, call, later in planned:
        _replace(context, each, call, later, retained, places)
    repeated = {statement for each in found for statement in each.repeated}
    for statement in sorted(retained, key=context.source.start):
        _retain(context, statement, moves_statistics=statement in repeated)
    for each, lines, call, _ in reversed(planned):  # at one place, what is inserted later goes first
        _insert(context, each, lines)
        context.rewritten(each.statement, "torch.Tensor.backward", context.source.text(each.statement), call)


def _free(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    return name


def _function(context: Context, each: Backward, name: str, dropped: set[ast.stmt]) -> list[str]:
    """The lines of `def forward_fn(...)`, without indentation."""
    source = context.source
    lines = [f"def {name}({', '.join(each.inputs)}):"]
    lifted = [statement for statement in each.lifted if statement not in dropped]
    for index, statement in enumerate(lifted):
        start = source.line_start(source.start(statement))
        previous = source.line_end(source.end(lifted[index - 1])) if index else start
        between = source.data[previous:start].split(b"\n") if index and previous <= start else []
        if any(line.strip() for line in between) and all(line.strip()[:1] in (b"#", b"") for line in between):
            start = previous  # a comment between two lifted statements goes with them
        old = indentation(context, statement)
        body = [
            line[len(old) :] if line.startswith(old) else line
            for line in context.edits.span(start, source.end(statement)).splitlines()
        ]
        if statement in each.repeated and (nets := sources.networks(context, [statement])):
            body = [
                f"with {context.imports.spell('compat.statistics_kept')}({', '.join(nets)}):",
                *(f"    {line}" for line in body),
            ]
        lines += [f"    {line}" if line.strip() else "" for line in body]
    loss = " + ".join([*(context.edits.text(other) for other in each.others), context.edits.text(each.loss)])
    lines.append(f"    return {', '.join([loss, *each.outputs])}")
    return lines


def _result(each: Backward) -> str:
    loss = each.loss.id if isinstance(each.loss, ast.Name) and not each.others else "_"
    return f"({', '.join([loss, *each.outputs])})" if each.outputs else loss


def _plain(context: Context, each: Backward, forward: str, names: set[str]) -> tuple[str, str]:
    assert each.step is not None
    gradient, grads = _free("grad_fn", names), _free("grads", names)
    optimizer = context.edits.text(each.step.value.func.value)  # type: ignore[attr-defined]
    auxiliary = ", has_aux=True" if each.outputs else ""
    maker = f"{gradient} = {context.imports.spell('mindspore.value_and_grad')}({forward}, None, {optimizer}.parameters{auxiliary})"
    for clip in each.clips:
        call = clip.value
        assert isinstance(call, ast.Call)
        limit = context.edits.text(
            call.args[1] if len(call.args) > 1 else next(k.value for k in call.keywords if k.arg == "max_norm")
        )
        context.edits.replace_node(
            clip, f"{grads} = {context.imports.spell('mindspore.ops.clip_by_global_norm')}({grads}, {limit})"
        )
    context.edits.replace_node(each.step, f"{optimizer}({grads})")
    for statement in each.idle:
        delete_statement(context.edits, statement)
    return f"{_result(each)}, {grads} = {gradient}({', '.join(each.inputs)})", maker


def _guarded(context: Context, each: Backward, call: str, forward: str) -> str:
    """Gradients only where the backward() would have run; the forward alone where not."""
    if not each.guards:
        return call
    tests = [
        text if holds else f"not ({text})"
        for text, holds in ((context.edits.text(test), holds) for test, holds in each.guards)
    ]
    test = tests[0] if len(tests) == 1 else " and ".join(f"({text})" for text in tests)
    unit = context.source.indent(each.statement).removeprefix(context.source.indent(each.place)) or "    "
    lines = [f"if {test}:", *(unit + line for line in call.splitlines())]
    result = _result(each).strip("()")
    if result != "_":
        lines += ["else:", f"{unit}{result} = {forward}({', '.join(each.inputs)})"]
    return "\n".join(lines)


def _indented(context: Context, each: Backward, text: str) -> str:
    return _line_break(context, each.place).join(text.splitlines())


def _line_break(context: Context, place: ast.stmt) -> str:
    indent = indentation(context, place)
    return context.source.newline() + (indent if not indent.strip() else "")


def _kept(context: Context, each: Backward, forward: str) -> str:
    """Gradients are added to each parameter's .grad, where the step, clipping and clearing find them."""
    arguments = "".join(f", {name}" for name in each.inputs)
    left = _result(each).strip("()")
    prefix = f"{left} = " if left != "_" else ""
    return f"{prefix}{context.imports.spell('compat.backward')}({forward}, {_parameters(context, each)}{arguments})"


def _kept_later(context: Context, each: Backward, forward: str, grads: str) -> tuple[str, str]:
    """They are taken with the loss, and added to each parameter's .grad where the backward() stands."""
    parameters = _parameters(context, each)
    arguments = "".join(f", {name}" for name in each.inputs)
    call = f"{_result(each)}, {grads} = {context.imports.spell('compat.loss_and_gradients')}({forward}, {parameters}{arguments})"
    return call, f"{context.imports.spell('compat.add_gradients')}({parameters}, {grads})"


def names_parameters(context: Context, each: Backward) -> bool:
    """Whether it can be told which parameters the loss trains; a guess only if there is an `optimizer` to guess."""
    text = _parameters(context, each)
    known = {node.id for node in context.source.of(ast.Name)} | {node.arg for node in context.source.of(ast.arg)}
    return "optimizer.parameters" not in text or "self.optimizer" in text or "optimizer" in known


def _parameters(context: Context, each: Backward) -> str:
    statements = [*each.lifted, *each.others, each.loss]
    own = sources.own_leaves(context, statements)
    found = sources.networks(context, statements)
    if found is not None and (found or own):
        parts = [*(f"{name}.trainable_params()" for name in found), *own]
    else:
        parts = [*_optimizers(context, each), *own]
    if len(parts) == 1 and not own:
        return parts[0]
    return "[" + ", ".join(part if part in own else f"*{part}" for part in parts) + "]"


def _optimizers(context: Context, each: Backward) -> list[str]:
    """Parameters of those that step or are cleared in the nearest loop or function that has any, and exist by then."""
    region: ast.AST | None = each.statement
    while region is not None:
        found = [
            _parameters_of(context, each, optimizer)
            for optimizer in context.derived(_stepping_optimizers)
            if context.is_within(optimizer, region) and not _is_made_later(context, each, optimizer)
        ]
        if found:
            return list(dict.fromkeys(found))
        region = context.enclosing(region, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
    return ["optimizer.parameters"]


def _stepping_optimizers(context: Context) -> list[ast.expr]:
    """What step() and zero_grad() are called of, all over the file."""
    from .steps import is_optimizer_method

    return [
        call.func.value
        for call in context.source.of(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and (is_optimizer_method(context, call, "step") or is_optimizer_method(context, call, "zero_grad"))
    ]


def _parameters_of(context: Context, each: Backward, optimizer: ast.expr) -> str:
    """`opt.parameters`; of all of them where `for opt in opts: opt.step()` goes through several."""
    text = f"{context.source.text(optimizer)}.parameters"
    names = {node.id for node in ast.walk(optimizer) if isinstance(node, ast.Name)}
    loops = []
    loop = context.enclosing(optimizer, ast.For)
    while isinstance(loop, ast.For) and not context.is_within(each.statement, loop):
        if flow.writes(loop.target) & names:
            loops.append(f"for {context.source.text(loop.target)} in {context.edits.text(loop.iter)}")
            names |= flow.reads(loop.iter)
        loop = context.enclosing(loop, ast.For)
    return f"(p {' '.join(reversed(loops))} for p in {text})" if loops else text


def _is_made_later(context: Context, each: Backward, optimizer: ast.expr) -> bool:
    name = optimizer.id if isinstance(optimizer, ast.Name) else ""
    stores = [
        node
        for node in ast.walk(each.scope)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    loops = [loop for loop in ast.walk(each.scope) if isinstance(loop, ast.For) and name in flow.writes(loop.target)]
    stores = [node for node in stores if not any(context.is_within(node, loop.target) for loop in loops)]
    return bool(stores) and all(context.source.start(node) > context.source.start(each.statement) for node in stores)


def _insert(context: Context, each: Backward, lines: list[str]) -> None:
    source, newline = context.source, context.source.newline()
    assert each.anchor is not None
    indent = indentation(context, each.anchor)
    offset = source.line_start(source.start(each.anchor))
    text = "".join((indent + line if line else "") + newline for line in lines)
    spaced = (
        source.data[:offset].rstrip(b" \t").endswith((b"\n\n", b"\n\r\n"))
        or not offset
        or _opens_block(context, each.anchor)
    )
    context.edits.before(offset, ("" if spaced else newline) + text)


def _opens_block(context: Context, statement: ast.stmt) -> bool:
    return context.block_of(statement)[0] is statement


def _replace(
    context: Context, each: Backward, call: str, later: str, retained: set[ast.stmt], places: set[ast.stmt]
) -> None:
    gone = [*each.lifted, *each.merged, *each.cleared]
    if each.place in each.lifted and each.place not in retained:
        _put(context, each.place, call)
        if later:
            context.edits.replace_node(each.statement, later)
        else:
            gone.append(each.statement)
    else:
        context.edits.replace_node(
            each.statement,
            f"{call}{context.source.newline()}{indentation(context, each.statement)}{later}" if later else call,
        )
    for statement in gone:
        if statement not in places and statement not in retained:
            delete_statement(context.edits, statement)


def indentation(context: Context, statement: ast.stmt) -> str:
    """What stands before a statement on its line now: less than there was where a `with` has been unwrapped."""
    source = context.source
    return context.edits.span(source.line_start(source.start(statement)), source.start(statement)).rpartition("\n")[2]


def _put(context: Context, statement: ast.stmt, text: str) -> None:
    """From the start of its line, where an unwrapped `with` has been edited too."""
    source = context.source
    start = source.line_start(source.start(statement))
    if indentation(context, statement).strip():
        context.edits.replace_node(statement, text)
    else:
        context.edits.replace(start, source.end(statement), context.edits.span(start, source.start(statement)) + text)


def _retain(context: Context, statement: ast.stmt, moves_statistics: bool) -> None:
    """It runs here and again inside the function: its batch statistics must move once."""
    context.find(
        statement,
        findings.MF202,
        "this network runs a second time where its gradient is taken; dropout masks would differ",
        "seed the dropout, or compute this loss before the other",
    )
    nets = sources.networks(context, [statement])
    if nets and not moves_statistics:
        source = context.source
        indent = indentation(context, statement)
        body = context.edits.text(statement).replace("\n" + indent, "\n" + indent + "    ")
        header = f"with {context.imports.spell('compat.statistics_kept')}({', '.join(nets)}):"
        context.edits.replace_node(statement, f"{header}{source.newline()}{indent}    {body}")
