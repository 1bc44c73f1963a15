"""Writes the lifted function and its call: MindSpore's plain form, or gradients kept on the parameters as torch keeps them."""

from __future__ import annotations

import ast
import re
from collections.abc import Generator, Iterator

from .... import findings
from ....read.uses import Use
from ...free_names import FreeNames
from ...plan import Edit, InsertBefore, RemoveStatement, ReplaceNode, ReplaceSpan, Text
from ...refused import Refused
from . import run_twice, sources, styles, ways_out
from .draft import Draft
from .find_unreached_parameters import may_be_unreached
from .steps import Backward, Clip
from .trained_parameters import trained_parameters

# What a loss trains: all of some networks, which it reaches as far as it is known.
WHOLE_NETWORKS = re.compile(r"\[?(?:\*?[\w.]+\.trainable_params\(\)(?:, )?)+\]?\Z")


def write(draft: Draft, found: list[Backward], dropped: set[ast.stmt]) -> Iterator[Edit]:
    """First all texts, then all edits: one statement may stand in several functions. What is dropped is needed nowhere any more."""
    names = FreeNames(draft.source.named if found else ())
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
        forward = names.find(f"forward_fn{'' if number == 1 else f'_{number}'}")
        lines, later = _function(draft, each, forward, dropped), ""
        if form is not None:
            lines, call = [form.made], form.called
            yield from form.edits
        elif each.step is not None:
            call, maker = yield from _plain(step, forward, names)
            lines += ["", *maker]
        elif each.is_kept_later:
            grads = names.take("grads")  # another one may wait in the same block
            each.bound = names.take("loss") if each.handed is not None and not each.result_name else ""
            call, later = _kept_later(draft, each, forward, grads)
            lines += [""]
        else:
            call = "\n".join([*(draft.texts.of(statement) for statement in each.cleared), _kept(draft, each, forward)])
            lines += [""]
        others = at_place.setdefault(each.place, [])
        is_alternative = bool(others) and all(run_twice.are_alternatives(each, other) for other in others)
        call = _indented(draft, each, _guarded(draft, each, call, forward, others if is_alternative else []))
        if others:  # two losses begin with the same statement
            line_break = _line_break(draft, each.place)
            first, _, rest = calls[each.place].rpartition(f"{line_break}else:") if is_alternative else ("", "", "")
            call = (first or rest or calls[each.place]) + line_break + call
        calls[each.place] = call
        planned.append((each, lines, call, later))
        others.append(each)
    places = {each.place for each in found}
    margins = [_margins(draft, each) for each, *_ in planned]  # a line that is replaced no longer tells its own
    for each, _, call, later in planned:
        yield from _replace(draft, each, call, later, retained, places)
    repeated = {statement for each in found for statement in each.repeated}
    for statement in sorted(retained, key=draft.source.start):
        yield from _retain(draft, statement, moves_statistics=statement in repeated)
    for each, lines, call, _ in reversed(planned):  # at one place, what is inserted later goes first
        yield from _insert(draft, each, lines, margins.pop())
        yield _recorded(draft, each, call)


def _recorded(draft: Draft, each: Backward, now: Text) -> Edit:
    return draft.record(each.statement, draft.uses.name(Use.BACKWARD), draft.source.text(each.statement), now)


def _other_form(step: styles.Step, names: FreeNames) -> Generator[Edit, None, styles.Cell | ReplaceNode | None]:
    """The step in the style that was asked for; None for the functional form, with the reason where another was wanted."""
    settings = step.draft.settings
    style = settings.style
    if step.each.step is None and style != "functional":
        try:
            step = styles.with_scaling(step)
        except Refused as refusal:
            yield _kept_functional(step, f"written in the {style} style", refusal)
            return None
    if step.each.step is None and (style != "functional" or settings.jit or settings.jit_auto):
        how = "compiled" if style == "functional" else f"written in the {style} style"
        yield _kept_functional(step, how, Refused("its gradients are kept on the parameters until they are used"))
    if step.each.step is None or style == "functional":
        return None
    name = names.find("train_net" if style == "cell" else "trainer")
    try:
        form = styles.as_cell(step, name) if style == "cell" else styles.as_model(step, name)
    except Refused as refusal:
        yield _kept_functional(step, f"written in the {style} style", refusal)
        return None
    names.take(name)
    if step.scaling is not None:
        yield from step.scaling.removed()
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
        if ways_out.is_elif(draft, statement):
            body[0] = body[0].removeprefix("el")
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


def _plain(step: styles.Step, forward: str, names: FreeNames) -> Generator[Edit, None, tuple[str, list[str]]]:
    """The call of the gradient function, and the lines that make it."""
    draft, each, optimizer = step.draft, step.each, step.optimizer
    assert each.step is not None
    suffix = forward.removeprefix("forward_fn")  # of the second loss in a function
    gradient, grads = (names.find(f"{name}{suffix}") for name in ("grad_fn", "grads"))
    auxiliary = ", has_aux=True" if each.outputs else ""
    is_native = yield from _is_native(draft, each)
    made = f"{draft.texts.name('mindspore.value_and_grad')}({forward}, None, {optimizer}.parameters{auxiliary})"
    if not is_native:
        made = f"{draft.texts.name('compat.value_and_gradients')}({forward}, {optimizer}.parameters)"
    maker, update = [f"{gradient} = {made}"], optimizer
    if not is_native and draft.settings.jit_auto:
        yield _kept_functional(
            step, "compiled", Refused("some parameters may have no gradient, or it writes to an input")
        )
    if is_native and (yield from _is_compiled(step)):
        maker = [f"{gradient} = {draft.texts.name('mindspore.jit')}({made})"]
        if step.is_updated_at_once:
            update = names.find(f"update{suffix}")
            maker.append(f"{update} = {draft.texts.name('compat.compiled_update')}({optimizer})")
    for clip in each.clips:
        yield ReplaceNode(clip.statement, _clipped(draft, clip, grads, is_native), swallows=True)
    yield ReplaceNode(each.step, f"{update}({grads})")
    for statement in each.idle:
        yield RemoveStatement(statement)
    return f"{_result(each)}, {grads} = {gradient}({', '.join(each.inputs)})", maker


def _clipped(draft: Draft, clip: Clip, grads: str, is_native: bool) -> str:
    limit = draft.texts.of(clip.limit)
    if isinstance(clip.statement, ast.Assign):
        norm = draft.texts.of(clip.statement.targets[0])
        return f"{grads}, {norm} = {draft.texts.name('compat.clip_with_norm')}({grads}, {limit})"
    if not clip.is_by_value:
        name = "mindspore.ops.clip_by_global_norm" if is_native else "compat.clip_gradients"
        return f"{grads} = {draft.texts.name(name)}({grads}, {limit})"
    if not is_native:
        return f"{grads} = {draft.texts.name('compat.clip_values')}({grads}, {limit})"
    is_whole = isinstance(clip.limit, ast.Constant | ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    lowest = f"-{limit}" if is_whole else f"-({limit})"
    return f"{grads} = {draft.texts.name('mindspore.ops.clip_by_value')}({grads}, {lowest}, {limit})"


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
    if draft.reading.symbols.writing:  # an input of MindSpore's function can't be written to, what is around it can
        return False
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
    trained = trained_parameters(draft, each)
    is_whole = WHOLE_NETWORKS.match(trained) is not None and not may_be_unreached(draft, each)
    helper = "compat.backward" if is_whole else "compat.partial_backward"
    return f"{prefix}{draft.texts.name(helper)}({forward}, {trained}{arguments})"


def _kept_later(draft: Draft, each: Backward, forward: str, grads: str) -> tuple[str, str]:
    """They are taken with the loss, and added to each parameter's .grad where the backward() stands."""
    parameters = trained_parameters(draft, each)
    arguments = "".join(f", {name}" for name in each.inputs)
    call = f"{_result(each)}, {grads} = {draft.texts.name('compat.loss_and_gradients')}({forward}, {parameters}{arguments})"
    if each.handed is not None:
        return call, f"{draft.texts.name('compat.with_gradients')}({each.targets[0]}, {parameters}, {grads})"
    return call, f"{draft.texts.name('compat.add_gradients')}({parameters}, {grads})"


def _margins(draft: Draft, each: Backward) -> dict[ast.stmt, str]:
    """The blanks before every statement that something is put above; what is put around its first value stands there too."""
    assert each.anchor is not None
    before = {above: indentation(draft, above) for above in (each.anchor, *(first for first, _ in each.first_values))}
    return {above: text[: len(text) - len(text.lstrip())] for above, text in before.items()}


def _insert(draft: Draft, each: Backward, lines: list[str], margins: dict[ast.stmt, str]) -> Iterator[Edit]:
    source, newline = draft.source, draft.source.newline()
    assert each.anchor is not None
    indent = margins[each.anchor]
    offset = source.line_start(source.start(each.anchor))
    text = "".join((indent + line if line else "") + newline for line in lines)
    spaced = source.data.endswith((b"\n\n", b"\n\r\n"), 0, offset) or not offset or _opens_block(draft, each.anchor)
    for first, name in each.first_values:
        if first is each.anchor:
            text = f"{indent}{name} = None{newline}" + text
        else:
            position = source.line_start(source.start(first))
            yield InsertBefore(position, f"{margins[first]}{name} = None{newline}")
    yield InsertBefore(offset, ("" if spaced else newline) + text)


def _opens_block(draft: Draft, statement: ast.stmt) -> bool:
    return draft.block_of(statement)[0] is statement


def _replace(
    draft: Draft, each: Backward, call: str, later: str, retained: set[ast.stmt], places: set[ast.stmt]
) -> Iterator[Edit]:
    gone = [*each.lifted, *each.merged, *each.cleared]
    if each.handed is not None:
        yield ReplaceNode(each.handed, later)
        if each.place is each.statement:
            line_break = f"{draft.source.newline()}{indentation(draft, each.statement)}"
            yield InsertBefore(each.statement, call + line_break)
        else:
            yield _put(draft, each.place, call)
    elif each.place is not each.statement:
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
        elif ways_out.is_elif(draft, statement):
            yield ReplaceNode(statement, f"else:{_line_break(draft, statement)}    pass", swallows=True)
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
        source, indent = draft.source, indentation(draft, statement)
        start = source.line_start(source.start(statement))  # where an unwrapped `with` has been edited too
        text = draft.texts.span(start, source.end(statement))
        header = f"with {draft.texts.name('compat.statistics_kept')}({', '.join(nets)}):"
        if indent.strip():
            yield ReplaceNode(statement, f"{header} {draft.texts.of(statement)}")
            return
        body = source.newline().join(f"    {line}" if line.strip() else "" for line in text.splitlines())
        yield ReplaceSpan(start, source.end(statement), f"{indent}{header}{source.newline()}{body}")
