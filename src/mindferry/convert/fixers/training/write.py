"""Writes the lifted function and its call: MindSpore's plain form, or gradients kept on the parameters as torch keeps them."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Generator, Iterator

from .... import findings
from ....read.uses import Use
from ....read.walk import walk
from ...facts import Facts, OriginalTexts
from ...plan import Edit, InsertBefore, RemoveStatement, ReplaceNode, ReplaceSpan, Text
from ...refused import Refused
from ..hold_leaf_parameters import MANY
from . import flow, place_lifted_loss, sources, styles
from .draft import Draft
from .find_unreached_parameters import may_be_unreached
from .steps import Backward

GUESS = "its parameters"


def write(draft: Draft, found: list[Backward], dropped: set[ast.stmt]) -> Iterator[Edit]:
    """First all texts, then all edits: one statement may stand in several functions. What is dropped is needed nowhere any more."""
    names = {node.id for node in draft.source.of(ast.Name)} if found else set()
    counts: dict[ast.AST, int] = {}
    planned: list[tuple[Backward, list[str], str, str]] = []
    calls: dict[ast.stmt, str] = {}
    at_place: dict[ast.stmt, list[Backward]] = {}
    retained = {statement for each in found for statement in each.retained}
    for each in found:
        if each.place in retained or each.place not in each.lifted:
            each.place, each.guards = (
                each.statement,
                [],
            )  # the first statement stays, so the call goes to the backward()
        step = styles.Step(draft, each, frozenset({*each.gone, *dropped} - retained))
        form = yield from _other_form(step, names)
        if isinstance(form, ReplaceNode):  # Model.train stands in place of the loop
            yield form
            yield _recorded(draft, each, form.text)
            continue
        counts[each.scope] = number = counts.get(each.scope, 0) + 1
        forward = _free(f"forward_fn{'' if number == 1 else f'_{number}'}", names)
        lines, later = _function(draft, each, forward, dropped), ""
        if form is not None:
            lines, call = [form.made], form.called
            yield from form.edits
        elif each.step is not None:
            call, maker = yield from _plain(step, forward, names)
            lines += ["", *maker]
        elif each.is_kept_later:
            names.add(grads := _free("grads", names))  # another one may wait in the same block
            call, later = _kept_later(draft, each, forward, grads)
            lines += [""]
        else:
            call = "\n".join([*(draft.texts.of(statement) for statement in each.cleared), _kept(draft, each, forward)])
            lines += [""]
        others = at_place.setdefault(each.place, [])
        is_alternative = bool(others) and all(place_lifted_loss.are_alternatives(each, other) for other in others)
        call = _indented(draft, each, _guarded(draft, each, call, forward, others if is_alternative else []))
        if others:  # two losses begin with the same statement
            line_break = _line_break(draft, each.place)
            first, _, rest = calls[each.place].rpartition(f"{line_break}else:") if is_alternative else ("", "", "")
            call = (first or rest or calls[each.place]) + line_break + call
        calls[each.place] = call
        planned.append((each, lines, call, later))
        others.append(each)
    places = {each.place for each in found}
    for each, _, call, later in planned:
        yield from _replace(draft, each, call, later, retained, places)
    repeated = {statement for each in found for statement in each.repeated}
    for statement in sorted(retained, key=draft.source.start):
        yield from _retain(draft, statement, moves_statistics=statement in repeated)
    for each, lines, call, _ in reversed(planned):  # at one place, what is inserted later goes first
        yield from _insert(draft, each, lines)
        yield _recorded(draft, each, call)


def _recorded(draft: Draft, each: Backward, now: Text) -> Edit:
    return draft.record(each.statement, draft.uses.name(Use.BACKWARD), draft.source.text(each.statement), now)


def _other_form(step: styles.Step, names: set[str]) -> Generator[Edit, None, styles.Cell | ReplaceNode | None]:
    """The step in the style that was asked for; None for the functional form, with the reason where another was wanted."""
    settings = step.draft.settings
    style = settings.style
    if step.each.step is None and (style != "functional" or settings.jit):
        how = "compiled" if style == "functional" else f"written in the {style} style"
        yield _kept_functional(step, how, Refused("its gradients are kept on the parameters until they are used"))
    if step.each.step is None or style == "functional":
        return None
    name = _free("train_net" if style == "cell" else "trainer", names)
    try:
        form = styles.as_cell(step, name) if style == "cell" else styles.as_model(step, name)
    except Refused as refusal:
        yield _kept_functional(step, f"written in the {style} style", refusal)
        return None
    names.add(name)
    return form


def _is_compiled(step: styles.Step) -> Generator[Edit, None, bool]:
    settings = step.draft.settings
    if not (settings.jit or settings.jit_auto):
        return False
    try:
        styles.check_compiled(step, is_asked_for=settings.jit)
    except Refused as refusal:
        yield _kept_functional(step, "compiled", refusal)
        return False
    return True


def _kept_functional(step: styles.Step, what: str, refusal: Refused) -> Edit:
    severity = "note" if step.draft.settings.jit_auto else "warning"
    message = f"this step was not {what}: {refusal}"
    return step.draft.found(step.each.statement, findings.MF210, message, "it stays in the functional form", severity)


def _free(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    return name


def _function(draft: Draft, each: Backward, name: str, dropped: set[ast.stmt]) -> list[str]:
    """The lines of `def forward_fn(...)`, without indentation."""
    source = draft.source
    lines = [f"def {name}({', '.join(each.inputs)}):", *(f"    {unset} = None" for unset in each.unbound)]
    lifted = [statement for statement in each.lifted if statement not in dropped]
    for index, statement in enumerate(lifted):
        start = source.line_start(source.start(statement))
        previous = source.line_end(source.end(lifted[index - 1])) if index else start
        between = source.data[previous:start].split(b"\n") if index and previous <= start else []
        if any(line.strip() for line in between) and all(line.strip()[:1] in (b"#", b"") for line in between):
            start = previous  # a comment between two lifted statements goes with them
        old = indentation(draft, statement)
        lines += [f"    {way.before} = {key}" for key, way in each.rebound.items() if way.first is statement]
        body = [
            line[len(old) :] if line.startswith(old) else line
            for line in draft.texts.span(start, source.end(statement)).splitlines()
        ]
        if statement in each.repeated and (nets := sources.networks(draft, [statement])):
            body = [
                f"with {draft.texts.name('compat.statistics_kept')}({', '.join(nets)}):",
                *(f"    {line}" for line in body),
            ]
        lines += [f"    {line}" if line.strip() else "" for line in body]
    loss = " + ".join(_loss(draft, each, part) for part in (*each.others, each.loss))
    lines += [f"    {line}" for line in f"return {', '.join([loss, *each.returned])}".splitlines()]
    return lines


def _loss(draft: Draft, each: Backward, loss: ast.expr) -> str:
    """One of the losses, as something that can be added up and may be several lines long."""
    text = draft.texts.of(loss)
    if loss in each.directions:
        direction = each.directions[loss]
        arguments = [text, *([draft.texts.of(direction)] if hasattr(direction, "lineno") else [])]
        return f"{draft.texts.name('compat.along')}({', '.join(arguments)})"
    is_whole = isinstance(loss, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return f"({text})" if "\n" in text or (each.others and not is_whole) else text


def _result(each: Backward) -> str:
    loss, *others = each.targets
    return f"({', '.join([loss, *others])})" if others else loss


def _plain(step: styles.Step, forward: str, names: set[str]) -> Generator[Edit, None, tuple[str, list[str]]]:
    """The call of the gradient function, and the lines that make it."""
    draft, each, optimizer = step.draft, step.each, step.optimizer
    assert each.step is not None
    gradient, grads = _free("grad_fn", names), _free("grads", names)
    auxiliary = ", has_aux=True" if each.outputs else ""
    is_native = yield from _is_native(draft, each)
    made = f"{draft.texts.name('mindspore.value_and_grad')}({forward}, None, {optimizer}.parameters{auxiliary})"
    if not is_native:
        made = f"{draft.texts.name('compat.value_and_gradients')}({forward}, {optimizer}.parameters)"
    maker, update = [f"{gradient} = {made}"], optimizer
    if is_native and (yield from _is_compiled(step)):
        maker = [f"{gradient} = {draft.texts.name('mindspore.jit')}({made})"]
        if step.is_updated_at_once:
            update = _free("update", names)
            maker.append(f"{update} = {draft.texts.name('compat.compiled_update')}({optimizer})")
    for clip in each.clips:
        call = clip.value
        assert isinstance(call, ast.Call)
        limit = draft.texts.of(
            call.args[1] if len(call.args) > 1 else next(k.value for k in call.keywords if k.arg == "max_norm")
        )
        yield ReplaceNode(
            clip,
            f"{grads} = {draft.texts.name('mindspore.ops.clip_by_global_norm' if is_native else 'compat.clip_gradients')}({grads}, {limit})",
            swallows=True,
        )
    yield ReplaceNode(each.step, f"{update}({grads})")
    for statement in each.idle:
        yield RemoveStatement(statement)
    return f"{_result(each)}, {grads} = {gradient}({', '.join(each.inputs)})", maker


def _is_native(draft: Draft, each: Backward) -> Generator[Edit, None, bool]:
    """MindSpore's own function does where every parameter has a gradient and a tensor is among what comes back beside the loss."""
    if draft.settings.jit or draft.settings.style != "functional":
        if may_be_unreached(draft, each):
            yield draft.found(
                each.statement,
                findings.MF206,
                "a network or layer may take part in this loss only sometimes: where it doesn't, its gradients are zeros "
                "here, None in torch",
                "leave --jit and --style out if its optimizer has weight decay or momentum",
            )
        return True
    has_tensor = not each.outputs or any(name not in each.unbound for name in each.outputs)
    return has_tensor and not each.first_values and not may_be_unreached(draft, each)


def _guarded(draft: Draft, each: Backward, call: str, forward: str, instead_of: list[Backward]) -> str:
    """Gradients only where the backward() would have run, and none of those that it is the alternative of; else the forward alone."""
    if not each.guards:
        return call
    known: set[tuple[int, bool]] = set()  # what must hold where the alternatives' conditions don't
    for other in instead_of:
        left = [(id(test), not holds) for test, holds in other.guards if (id(test), holds) not in known]
        known |= set(left) if len(left) == 1 else set()
    guards = [(test, holds) for test, holds in each.guards if (id(test), holds) not in known]
    unit = draft.source.indent(each.statement).removeprefix(draft.source.indent(each.place)) or "    "
    if not guards:
        return "\n".join(["else:", *(unit + line for line in call.splitlines())])
    tests = [
        text if holds else f"not ({text})" for text, holds in ((draft.texts.of(test), holds) for test, holds in guards)
    ]
    test = tests[0] if len(tests) == 1 else " and ".join(f"({text})" for text in tests)
    lines = [f"{'elif' if instead_of else 'if'} {test}:", *(unit + line for line in call.splitlines())]
    result = _result(each).strip("()")
    if result != "_":
        lines += ["else:", f"{unit}{result} = {forward}({', '.join(each.inputs)})"]
    return "\n".join(lines)


def _indented(draft: Draft, each: Backward, text: str) -> str:
    return _line_break(draft, each.place).join(text.splitlines())


def _line_break(draft: Draft, place: ast.stmt) -> str:
    indent = indentation(draft, place)
    return draft.source.newline() + (indent if not indent.strip() else "")


def _kept(draft: Draft, each: Backward, forward: str) -> str:
    """Gradients are added to each parameter's .grad, where the step, clipping and clearing find them."""
    arguments = "".join(f", {name}" for name in each.inputs)
    left = _result(each).strip("()")
    prefix = f"{left} = " if left != "_" else ""
    return f"{prefix}{draft.texts.name('compat.backward')}({forward}, {_parameters(draft, each)}{arguments})"


def _kept_later(draft: Draft, each: Backward, forward: str, grads: str) -> tuple[str, str]:
    """They are taken with the loss, and added to each parameter's .grad where the backward() stands."""
    parameters = _parameters(draft, each)
    arguments = "".join(f", {name}" for name in each.inputs)
    call = f"{_result(each)}, {grads} = {draft.texts.name('compat.loss_and_gradients')}({forward}, {parameters}{arguments})"
    return call, f"{draft.texts.name('compat.add_gradients')}({parameters}, {grads})"


def names_parameters(facts: Facts, each: Backward) -> bool:
    """Whether it can be told which parameters the loss trains."""
    return GUESS not in _parameters(Draft(facts, OriginalTexts(facts.source)), each)


def _parameters(draft: Draft, each: Backward) -> str:
    if each.only is not None:
        return _chosen(draft, each.only)
    statements = [*each.lifted, *each.others, each.loss]
    leaves = sources.own_leaves(draft, statements)
    own = [
        f"*{draft.texts.name('compat.leaves_in')}({name})" if held == MANY else name for name, held in leaves.items()
    ]
    found = sources.networks(draft, statements)
    if found is not None and (found or own):
        parts = [*(_trained(draft, name, each.scope) for name in found), *own]
    else:
        optimizers = _optimizers(draft, each)
        called = sources.unknown_networks(draft, statements) if not optimizers else []
        asked = [f"{draft.texts.name('compat.parameters_of')}({', '.join(called)})"] if called else [GUESS]
        parts = [*(optimizers or asked), *own]
    if len(parts) == 1 and not own:
        return parts[0]
    return "[" + ", ".join(part if part in own else f"*{part}" for part in parts) + "]"


def _trained(draft: Draft, name: str, scope: ast.AST) -> str:
    """A network's parameters; it may be an argument that is left out."""
    given = f"{name}.trainable_params()"
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return given
    arguments = scope.args
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = dict(zip(reversed([each.arg for each in positional]), reversed(arguments.defaults), strict=False))
    with_default |= {
        each.arg: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    default = with_default.get(name)
    is_optional = isinstance(default, ast.Constant) and default.value is None
    return f"({given} if {name} is not None else [])" if is_optional else given


def _chosen(draft: Draft, only: ast.expr) -> str:
    """The parameters that `backward(inputs=...)` names: one, or several of them."""
    text = draft.texts.of(only)
    is_single = isinstance(only, ast.Name | ast.Attribute) and draft.reading.type(only).kind not in ("list", "tuple")
    return f"[{text}]" if is_single else text


def _optimizers(draft: Draft, each: Backward) -> list[str]:
    """Parameters of those that step or are cleared in the nearest loop or function that has any, and exist by then."""
    region: ast.AST | None = each.statement
    while region is not None:
        found = [
            _parameters_of(draft, each, optimizer)
            for optimizer in _stepping_within(draft, region)
            if not _is_made_later(draft, each, optimizer) and not _is_made_sometimes(draft, each, optimizer)
        ]
        if found:
            return list(dict.fromkeys(found))
        region = draft.enclosing(region, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
    is_known = "optimizer" in draft.source.named or "optimizer" in draft.derived(_argument_names)
    is_sure = not _is_made_later_or_never(draft, each) and not any(
        _is_made_sometimes(draft, each, optimizer)
        for optimizer in draft.derived(_stepping_optimizers)
        if isinstance(optimizer, ast.Name) and optimizer.id == "optimizer"
    )
    return ["optimizer.parameters"] if is_known and is_sure else []


def _argument_names(draft: Draft) -> set[str]:
    return {node.arg for node in draft.source.of(ast.arg)}


def _is_made_sometimes(draft: Draft, each: Backward, optimizer: ast.expr) -> bool:
    """`if args.use_optimizer:` makes it and steps it, another branch trains by hand: then there may be none."""
    if not isinstance(optimizer, ast.Name) or _branch_beside(draft, each, optimizer) is None:
        return False
    stores = draft.stores(optimizer.id)
    return bool(stores) and all(_branch_beside(draft, each, node) is not None for node in stores)


def _branch_beside(draft: Draft, each: Backward, node: ast.Name) -> ast.If | None:
    """The `if` around the node that the backward() is outside of, if its other branch does not name the same."""
    branch = draft.enclosing(node, ast.If)
    while isinstance(branch, ast.If) and not draft.is_within(each.statement, branch):
        parts = [part for part in (branch.body, branch.orelse) if not any(draft.is_within(node, one) for one in part)]
        named = {name.id for part in parts for one in part for name in walk(one) if isinstance(name, ast.Name)}
        if node.id not in named:
            return branch
        branch = draft.enclosing(branch, ast.If)
    return None


def _is_made_later_or_never(draft: Draft, each: Backward) -> bool:
    """Whether no `optimizer` exists yet where the loss is computed."""
    stores = draft.stores("optimizer")
    is_local = bool(stores) and all(draft.is_within(node, each.scope) for node in stores)
    return is_local and all(draft.source.start(node) > draft.source.start(each.place) for node in stores)


def _stepping_optimizers(draft: Draft) -> list[ast.expr]:
    """What step() and zero_grad() are called of, all over the file."""
    from .steps import is_optimizer_method

    return [
        call.func.value
        for call in draft.source.of(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and (is_optimizer_method(draft, call, "step") or is_optimizer_method(draft, call, "zero_grad"))
    ]


def _stepping_within(draft: Draft, region: ast.AST) -> list[ast.expr]:
    source, everywhere = draft.source, draft.derived(_stepping_in_order)
    if region is source.tree:
        return draft.derived(_stepping_optimizers)
    start, end = (
        bisect.bisect_left(everywhere, at, key=source.start) for at in (source.start(region), source.end(region))
    )
    return source.in_tree_order(everywhere[start:end])


def _stepping_in_order(draft: Draft) -> list[ast.expr]:
    return sorted(draft.derived(_stepping_optimizers), key=draft.source.start)


def _parameters_of(draft: Draft, each: Backward, optimizer: ast.expr) -> str:
    """`opt.parameters`; of all of them where `for opt in opts: opt.step()` goes through several."""
    text = f"{draft.source.text(optimizer)}.parameters"
    names = {node.id for node in walk(optimizer) if isinstance(node, ast.Name)}
    loops = []
    loop = draft.enclosing(optimizer, ast.For)
    while isinstance(loop, ast.For) and not draft.is_within(each.statement, loop):
        if flow.writes(loop.target) & names:
            loops.append(f"for {draft.source.text(loop.target)} in {draft.texts.of(loop.iter)}")
            names |= flow.reads(loop.iter)
        loop = draft.enclosing(loop, ast.For)
    return f"(p {' '.join(reversed(loops))} for p in {text})" if loops else text


def _is_made_later(draft: Draft, each: Backward, optimizer: ast.expr) -> bool:
    name = optimizer.id if isinstance(optimizer, ast.Name) else ""
    stores = [node for node in draft.bound_within(name, each.scope) if not _is_loop_target(draft, node)]
    return bool(stores) and all(draft.source.start(node) > draft.source.start(each.statement) for node in stores)


def _is_loop_target(draft: Draft, node: ast.Name) -> bool:
    loop = draft.enclosing(node, ast.stmt)
    return isinstance(loop, ast.For) and draft.is_within(node, loop.target)


def _insert(draft: Draft, each: Backward, lines: list[str]) -> Iterator[Edit]:
    source, newline = draft.source, draft.source.newline()
    assert each.anchor is not None
    indent = indentation(draft, each.anchor)
    offset = source.line_start(source.start(each.anchor))
    text = "".join((indent + line if line else "") + newline for line in lines)
    spaced = source.data.endswith((b"\n\n", b"\n\r\n"), 0, offset) or not offset or _opens_block(draft, each.anchor)
    for first, name in each.first_values:
        if first is each.anchor:
            text = f"{indent}{name} = None{newline}" + text
        else:
            position = source.line_start(source.start(first))
            yield InsertBefore(position, f"{indentation(draft, first)}{name} = None{newline}")
    yield InsertBefore(offset, ("" if spaced else newline) + text)


def _opens_block(draft: Draft, statement: ast.stmt) -> bool:
    return draft.block_of(statement)[0] is statement


def _replace(
    draft: Draft, each: Backward, call: str, later: str, retained: set[ast.stmt], places: set[ast.stmt]
) -> Iterator[Edit]:
    gone = [*each.lifted, *each.merged, *each.cleared]
    if each.place is not each.statement:
        yield _put(draft, each.place, call)
        if later:
            yield ReplaceNode(each.statement, later)
        else:
            gone.append(each.statement)
    else:
        yield ReplaceNode(
            each.statement,
            f"{call}{draft.source.newline()}{indentation(draft, each.statement)}{later}" if later else call,
        )
    renewed = {way.last: f"{key} = {way.after}" for key, way in each.rebound.items() if way.after}
    for statement in gone:
        if statement in renewed:
            yield ReplaceNode(statement, renewed[statement], swallows=True)
        elif statement not in places and statement not in retained:
            yield RemoveStatement(statement)


def indentation(draft: Draft, statement: ast.stmt) -> str:
    """What stands before a statement on its line now: less than there was where a `with` has been unwrapped."""
    source = draft.source
    return draft.texts.span(source.line_start(source.start(statement)), source.start(statement)).rpartition("\n")[2]


def _put(draft: Draft, statement: ast.stmt, text: str) -> Edit:
    """From the start of its line, where an unwrapped `with` has been edited too."""
    source = draft.source
    start = source.line_start(source.start(statement))
    if indentation(draft, statement).strip():
        return ReplaceNode(statement, text)
    return ReplaceSpan(start, source.end(statement), draft.texts.span(start, source.start(statement)) + text)


def _retain(draft: Draft, statement: ast.stmt, moves_statistics: bool) -> Iterator[Edit]:
    """It runs here and again inside the function: its batch statistics must move once."""
    yield draft.found(
        statement,
        findings.MF202,
        "this network runs a second time where its gradient is taken; dropout masks would differ",
        "seed the dropout, or compute this loss before the other",
    )
    nets = sources.networks(draft, [statement])
    if nets and not moves_statistics:
        source = draft.source
        indent = indentation(draft, statement)
        body = draft.texts.of(statement).replace("\n" + indent, "\n" + indent + "    ")
        header = f"with {draft.texts.name('compat.statistics_kept')}({', '.join(nets)}):"
        yield ReplaceNode(statement, f"{header}{source.newline()}{indent}    {body}")
