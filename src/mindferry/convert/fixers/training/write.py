"""Writes the lifted function and its call: MindSpore's plain form, or gradients kept on the parameters as torch keeps them."""

from __future__ import annotations

import ast

from .... import findings
from ...context import Context
from ...render.imports import delete_statement
from . import flow, place, sources
from .steps import Backward
from .unreached import may_be_unreached

GUESS = "its parameters"


def write(context: Context, found: list[Backward], dropped: set[ast.stmt]) -> None:
    """First all texts, then all edits: one statement may stand in several functions. What is dropped is needed nowhere any more."""
    names = {node.id for node in context.source.of(ast.Name)}
    counts: dict[ast.AST, int] = {}
    planned: list[tuple[Backward, list[str], str, str]] = []
    calls: dict[ast.stmt, str] = {}
    retained = {statement for each in found for statement in each.retained}
    for each in found:
        if each.place in retained or each.place not in each.lifted:
            each.place, each.guards = (
                each.statement,
                [],
            )  # the first statement stays, so the call goes to the backward()
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
        others = [other for other, *_ in planned if other.place is each.place]
        is_alternative = bool(others) and all(place.are_alternatives(each, other) for other in others)
        call = _indented(context, each, _guarded(context, each, call, forward, others if is_alternative else []))
        if others:  # two losses begin with the same statement
            line_break = _line_break(context, each.place)
            first, _, rest = calls[each.place].rpartition(f"{line_break}else:") if is_alternative else ("", "", "")
            call = (first or rest or calls[each.place]) + line_break + call
        calls[each.place] = call
        planned.append((each, lines, call, later))
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
    lines = [f"def {name}({', '.join(each.inputs)}):", *(f"    {unset} = None" for unset in each.unbound)]
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
    loss = " + ".join(_loss(context, each, part) for part in (*each.others, each.loss))
    lines += [f"    {line}" for line in f"return {', '.join([loss, *each.outputs])}".splitlines()]
    return lines


def _loss(context: Context, each: Backward, loss: ast.expr) -> str:
    """One of the losses, as something that can be added up and may be several lines long."""
    text = context.edits.text(loss)
    if loss in each.directions:
        direction = each.directions[loss]
        arguments = [text, *([context.edits.text(direction)] if hasattr(direction, "lineno") else [])]
        return f"{context.imports.spell('compat.along')}({', '.join(arguments)})"
    is_whole = isinstance(loss, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return f"({text})" if "\n" in text or (each.others and not is_whole) else text


def _result(each: Backward) -> str:
    is_itself = isinstance(each.loss, ast.Name) and not each.others and not each.directions
    loss = each.loss.id if isinstance(each.loss, ast.Name) and is_itself else "_"
    return f"({', '.join([loss, *each.outputs])})" if each.outputs else loss


def _plain(context: Context, each: Backward, forward: str, names: set[str]) -> tuple[str, str]:
    assert each.step is not None
    gradient, grads = _free("grad_fn", names), _free("grads", names)
    optimizer = context.edits.text(each.step.value.func.value)  # type: ignore[attr-defined]
    auxiliary = ", has_aux=True" if each.outputs else ""
    is_native = _is_native(context, each)
    made = f"{context.imports.spell('mindspore.value_and_grad')}({forward}, None, {optimizer}.parameters{auxiliary})"
    if not is_native:
        made = f"{context.imports.spell('compat.value_and_gradients')}({forward}, {optimizer}.parameters)"
    maker = f"{gradient} = {made}"
    for clip in each.clips:
        call = clip.value
        assert isinstance(call, ast.Call)
        limit = context.edits.text(
            call.args[1] if len(call.args) > 1 else next(k.value for k in call.keywords if k.arg == "max_norm")
        )
        context.edits.replace_node(
            clip,
            f"{grads} = {context.imports.spell('mindspore.ops.clip_by_global_norm' if is_native else 'compat.clip_gradients')}({grads}, {limit})",
            swallows=True,
        )
    context.edits.replace_node(each.step, f"{optimizer}({grads})")
    for statement in each.idle:
        delete_statement(context.edits, statement)
    return f"{_result(each)}, {grads} = {gradient}({', '.join(each.inputs)})", maker


def _is_native(context: Context, each: Backward) -> bool:
    """MindSpore's own function does where every parameter has a gradient and a tensor is among what comes back beside the loss."""
    if context.settings.jit or context.settings.style != "functional":
        if may_be_unreached(context, each):
            context.find(
                each.statement,
                findings.MF206,
                "a network or layer may take part in this loss only sometimes: where it doesn't, its gradients are zeros "
                "here, None in torch",
                "leave --jit and --style out if its optimizer has weight decay or momentum",
            )
        return True
    has_tensor = not each.outputs or any(name not in each.unbound for name in each.outputs)
    return has_tensor and not each.first_values and not may_be_unreached(context, each)


def _guarded(context: Context, each: Backward, call: str, forward: str, instead_of: list[Backward]) -> str:
    """Gradients only where the backward() would have run, and none of those that it is the alternative of; else the forward alone."""
    if not each.guards:
        return call
    known: set[tuple[int, bool]] = set()  # what must hold where the alternatives' conditions don't
    for other in instead_of:
        left = [(id(test), not holds) for test, holds in other.guards if (id(test), holds) not in known]
        known |= set(left) if len(left) == 1 else set()
    guards = [(test, holds) for test, holds in each.guards if (id(test), holds) not in known]
    unit = context.source.indent(each.statement).removeprefix(context.source.indent(each.place)) or "    "
    if not guards:
        return "\n".join(["else:", *(unit + line for line in call.splitlines())])
    tests = [
        text if holds else f"not ({text})"
        for text, holds in ((context.edits.text(test), holds) for test, holds in guards)
    ]
    test = tests[0] if len(tests) == 1 else " and ".join(f"({text})" for text in tests)
    lines = [f"{'elif' if instead_of else 'if'} {test}:", *(unit + line for line in call.splitlines())]
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
    """Whether it can be told which parameters the loss trains."""
    return GUESS not in _parameters(context, each)


def _parameters(context: Context, each: Backward) -> str:
    if each.only is not None:
        return _chosen(context, each.only)
    statements = [*each.lifted, *each.others, each.loss]
    own = sources.own_leaves(context, statements)
    found = sources.networks(context, statements)
    if found is not None and (found or own):
        parts = [*(f"{name}.trainable_params()" for name in found), *own]
    else:
        optimizers = _optimizers(context, each)
        called = sources.unknown_networks(context, statements) if not optimizers else []
        asked = [f"{context.imports.spell('compat.parameters_of')}({', '.join(called)})"] if called else [GUESS]
        parts = [*(optimizers or asked), *own]
    if len(parts) == 1 and not own:
        return parts[0]
    return "[" + ", ".join(part if part in own else f"*{part}" for part in parts) + "]"


def _chosen(context: Context, only: ast.expr) -> str:
    """The parameters that `backward(inputs=...)` names: one, or several of them."""
    text = context.edits.text(only)
    is_single = isinstance(only, ast.Name | ast.Attribute) and context.reading.type(only).kind not in ("list", "tuple")
    return f"[{text}]" if is_single else text


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
    known = {node.id for node in context.source.of(ast.Name)} | {node.arg for node in context.source.of(ast.arg)}
    return ["optimizer.parameters"] if "optimizer" in known and not _is_made_later_or_never(context, each) else []


def _is_made_later_or_never(context: Context, each: Backward) -> bool:
    """Whether no `optimizer` exists yet where the loss is computed."""
    stores = context.stores("optimizer")
    is_local = bool(stores) and all(context.is_within(node, each.scope) for node in stores)
    return is_local and all(context.source.start(node) > context.source.start(each.place) for node in stores)


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
    for first, name in each.first_values:
        if first is each.anchor:
            text = f"{indent}{name} = None{newline}" + text
        else:
            position = source.line_start(source.start(first))
            context.edits.before(position, f"{indentation(context, first)}{name} = None{newline}")
    context.edits.before(offset, ("" if spaced else newline) + text)


def _opens_block(context: Context, statement: ast.stmt) -> bool:
    return context.block_of(statement)[0] is statement


def _replace(
    context: Context, each: Backward, call: str, later: str, retained: set[ast.stmt], places: set[ast.stmt]
) -> None:
    gone = [*each.lifted, *each.merged, *each.cleared]
    if each.place is not each.statement:
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
