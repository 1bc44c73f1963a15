"""`with tf.GradientTape() as tape:` becomes a function that computes the loss, and `tape.gradient` MindSpore's gradient of it.

One call of `gradient` in the same block is `value_and_gradients(forward_fn, lambda: variables)`: forward and backward once.
Several calls, several tapes and persistent ones get a `RecordedTape`, which runs the function again for each gradient.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from .... import findings
from ...facts import Facts
from ...free_names import FreeNames
from ...plan import (
    AtEnd,
    Change,
    Edit,
    InsertBefore,
    RemoveStatement,
    ReplaceNode,
    ReplaceSpan,
    Texts,
    claim,
    claim_all,
)
from .block_effects import effects_of
from .block_names import names_of
from .kept_names import declarations, is_repeated, names_before, names_read, shared_names
from .tape_blocks import dedented, split_block

TAPE = "tensorflow.GradientTape"
TAKEN = frozenset({"gradient", "jacobian", "batch_jacobian"})
ADVICE = "see MindSpore's value_and_grad: put what the tape records into a function that returns the loss first"
THIRD_ORDER = "of three gradients in each other, MindSpore 2.10 loses terms of the outermost where the inner ones reshape, sum or slice"
THIRD_ORDER_ADVICE = "compare with `mindferry verify`; keep reshapes, sums and slices out of what lies between"
AGAIN = "the block runs again for each gradient that is taken, and this is then done again"
AGAIN_ADVICE = "move it before or behind the block, or use one tape for each gradient"
VARIABLES = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


@dataclass(slots=True)
class Tape:
    """One `with` block and what is asked of its tapes."""

    block: ast.With
    names: list[str]
    before: list[ast.stmt] = field(default_factory=list)  # of the block: what leads to a tensor that is watched
    body: list[ast.stmt] = field(default_factory=list)  # what becomes the function
    rest: list[ast.stmt] = field(default_factory=list)  # from the first gradient on, where that is asked for inside
    watched: list[ast.Call] = field(default_factory=list)
    deleted: list[ast.Delete] = field(default_factory=list)
    gradients: list[ast.Call] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)  # names set in the block that are read behind it
    parts: set[str] = field(default_factory=set)  # `losses["total"]`, where that is what the gradient is taken of
    outer: list[str] = field(default_factory=list)  # names that the block changes, and that have a value before it
    unset: list[str] = field(default_factory=list)  # outputs that the block may leave without a value
    inputs: list[str] = field(default_factory=list)  # what is watched
    noted: list[ast.Call] = field(default_factory=list)  # where the function itself sets what is watched
    shared: dict[str, str] = field(default_factory=dict)  # names that are set for others too: "global" or "nonlocal"
    function: str = "forward_fn"
    refusal: str = ""


def plan(facts: Facts) -> Iterator[Change]:
    names = FreeNames([*facts.source.named, *(node.name for node in facts.source.of(ast.FunctionDef))])
    for block in facts.source.of(ast.With):
        calls = [item.context_expr for item in block.items]
        tapes = [_is_tape(facts, call) for call in calls]
        if not any(tapes):
            continue
        tape = _read(facts, block, all(tapes))
        if tape.refusal:
            yield facts.found(block, findings.MF101, f"{TAPE}: {tape.refusal}", ADVICE, rule=TAPE)
            yield claim(*calls, *(call.func for call in calls if isinstance(call, ast.Call)))
            continue
        tape.function = names.take(tape.function)
        yield from _changes(facts, tape)
        yield from _warn_of_repetition(facts, tape)
        if tape.inputs and any(_tapes_around(facts, each) for each in _tapes_around(facts, block)):
            yield facts.found(block, findings.MF101, f"{TAPE}: {THIRD_ORDER}", THIRD_ORDER_ADVICE, "warning", TAPE)


def _warn_of_repetition(facts: Facts, tape: Tape) -> Iterator[Change]:
    if _single_gradient(facts, tape) is None:
        done = effects_of(facts, tape.body, names_of(tape.body).stored - set(tape.shared))
        done += sorted(names_of(tape.body).read_first & set(tape.shared))
        if done:
            message = f"{TAPE}: {AGAIN}: {', '.join(done[:3])}"
            yield facts.found(tape.block, findings.MF101, message, AGAIN_ADVICE, "warning", TAPE)


def _is_tape(facts: Facts, call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and facts.api(call.func) == TAPE


def _tapes_around(facts: Facts, block: ast.With) -> list[ast.With]:
    """The tapes of the file that are around this one, or may call the function that it stands in."""
    scope = facts.enclosing(block, ast.FunctionDef, ast.AsyncFunctionDef)
    name = scope.name if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) else ""
    calls = facts.derived(_calls_of_tapes)
    return [each for each in calls if each is not block and (facts.is_within(block, each) or name in calls[each])]


def _calls_of_tapes(facts: Facts) -> dict[ast.With, set[str]]:
    blocks = [
        each for each in facts.source.of(ast.With) if any(_is_tape(facts, item.context_expr) for item in each.items)
    ]
    return {each: _reached(facts, [each]) for each in blocks}


def _reached(facts: Facts, blocks: Iterable[ast.AST]) -> set[str]:
    """Names of functions and methods that these call, or that functions of the file call which they call."""
    functions: dict[str, list[ast.AST]] = {}
    for each in facts.source.of(ast.FunctionDef):
        functions.setdefault(each.name, []).append(each)
    found: set[str] = set()
    waiting = list(blocks)
    while waiting:
        for node in facts.source.walk(waiting.pop()):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name not in found:
                    found.add(name)
                    waiting += functions.get(name, [])
    return found


def _read(facts: Facts, block: ast.With, is_all: bool) -> Tape:
    names = [item.optional_vars.id for item in block.items if isinstance(item.optional_vars, ast.Name)]
    tape = Tape(block, names)
    scope = facts.enclosing(block, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    begin, end = (block.lineno, block.col_offset), _next_of_its_name(facts, block, names, scope)
    sources = _sources(facts, scope, names, (begin, end))
    tape.before, tape.body, tape.rest = split_block(facts, block, names, sources)
    inside = {node for statement in tape.body for node in facts.source.walk(statement)}
    tape.refusal = _refusal(facts, block, is_all and len(names) == len(block.items), inside)
    if tape.refusal:
        return tape
    names_inside = names_of(tape.body)
    stored = names_inside.stored
    for node in facts.source.walk(scope):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if begin < (node.lineno, node.col_offset) < end:
            _sort_call(node, node.func, tape, node in inside)
    read_outside = names_read(scope, inside)
    _sort_names(facts, tape, scope, (begin, end))
    targets = [_target(call) for call in tape.gradients]
    if not all(targets):
        tape.refusal = "the gradient is taken of something that has no name"
    elif any(name not in stored for name in targets):
        tape.refusal = "the gradient is taken of something that its block doesn't compute"
    tape.shared = shared_names(facts, scope, inside, stored)
    earlier = names_before(scope, block)
    kept = names_inside.read_first & earlier - set(tape.shared) if is_repeated(facts, block, scope) else set()
    rest = sorted((stored & read_outside | kept) - set(targets))
    tape.outputs = [*dict.fromkeys(targets), *rest]
    _take_parts(tape, set(targets))
    unset = names_inside.read_first | (set(tape.outputs) - names_inside.certain)  # on some way through the block
    unset -= set(tape.shared)
    tape.outer = sorted(unset & earlier)
    tape.unset = sorted(set(tape.outputs) & unset - earlier)
    _watch(facts, tape, stored)
    if not tape.gradients and not tape.refusal:
        tape.refusal = "nothing in the same function asks for a gradient"
    return tape


def _sources(
    facts: Facts, scope: ast.AST, names: list[str], place: tuple[tuple[float, float], tuple[float, float]]
) -> set[str] | None:
    """The names that all gradients of the tape are taken by; None where one is taken by anything else."""
    found: set[str] = set()
    begin, end = place
    for node in facts.source.walk(scope):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKEN):
            continue
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id in names and begin < (node.lineno, node.col_offset) < end):
            continue
        named = [word.value for word in node.keywords if word.arg == "sources"]
        given = next(iter([*node.args[1:2], *named]), None)
        parts = given.elts if isinstance(given, ast.List | ast.Tuple) else [given]
        if not all(isinstance(part, ast.Name) for part in parts):
            return None
        found |= {part.id for part in parts if isinstance(part, ast.Name)}
    return found


def _take_parts(tape: Tape, targets: set[str]) -> None:
    tape.parts = {ast.unparse(call.args[0]) for call in tape.gradients if call.args} - targets
    if tape.parts and (len(tape.parts) > 1 or len(tape.gradients) > 1):
        tape.refusal = "gradients are taken of several parts of what its block computes"


def _target(call: ast.Call) -> str:
    """The name of what the gradient is taken of; the table's, where it is a part of a table."""
    node = call.args[0] if call.args else None
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _next_of_its_name(facts: Facts, block: ast.With, names: list[str], scope: ast.AST) -> tuple[float, float]:
    """Where the same name becomes another tape, in a statement that runs after this block or what it stands in."""
    later: list[ast.stmt] = []
    inner: ast.AST | None = block
    while inner is not None and inner is not scope:
        if isinstance(inner, ast.stmt):
            around = facts.block_of(inner)
            later += around[around.index(inner) + 1 :]
        inner = facts.parents.get(inner)
    for node in (part for each in later for part in facts.source.walk(each)):
        if isinstance(node, ast.With) and any(_is_tape(facts, item.context_expr) for item in node.items):
            own = [item.optional_vars.id for item in node.items if isinstance(item.optional_vars, ast.Name)]
            if set(own) & set(names):
                return node.lineno, node.col_offset
    return math.inf, math.inf


def _refusal(facts: Facts, block: ast.With, is_plain: bool, inside: set[ast.AST]) -> str:
    if not is_plain:
        return "the tape stands beside something else, or has no name"
    for node in inside:
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom | ast.Await):
            return "the block is left before its end"
        if isinstance(node, ast.Break | ast.Continue) and not _loops_inside(facts, node, inside):
            return "the block is left by a loop around it"
    return ""


def _loops_inside(facts: Facts, node: ast.AST, inside: set[ast.AST]) -> bool:
    loop = facts.enclosing(node, ast.For, ast.While)
    return loop in inside


def _sort_call(node: ast.Call, function: ast.Attribute, tape: Tape, is_inside: bool) -> None:
    if not isinstance(function.value, ast.Name) or function.value.id not in tape.names:
        return
    if function.attr == "watch":
        tape.watched.append(node)
    elif function.attr in TAKEN and not is_inside:
        tape.gradients.append(node)
    elif function.attr in TAKEN:
        tape.refusal = "the gradient is asked for inside of its own block"
    else:
        tape.refusal = f"{function.attr} of a tape has no counterpart"


def _sort_names(
    facts: Facts, tape: Tape, scope: ast.AST, place: tuple[tuple[float, float], tuple[float, float]]
) -> None:
    """`del tape` goes with the tape; a tape that is handed on, to a function or an attribute, can't be lifted."""
    begin, end = place
    known = {id(call.func.value) for call in (*tape.watched, *tape.gradients) if isinstance(call.func, ast.Attribute)}
    for node in facts.source.walk(scope):
        if not isinstance(node, ast.Name) or node.id not in tape.names or isinstance(node.ctx, ast.Store):
            continue
        if not begin < (node.lineno, node.col_offset) < end or id(node) in known:
            continue
        statement = facts.statement_of(node)
        if isinstance(statement, ast.Delete) and all(isinstance(each, ast.Name) for each in statement.targets):
            tape.deleted.append(statement)
        elif not tape.refusal:
            tape.refusal = "the tape itself is handed on"


def _stands_alone(facts: Facts, call: ast.Call) -> bool:
    """`tape.watch(x)`, as a statement of one name."""
    is_one = len(call.args) == 1 and isinstance(call.args[0], ast.Name) and not call.keywords
    return is_one and isinstance(facts.statement_of(call), ast.Expr)


def _watch(facts: Facts, tape: Tape, stored: set[str]) -> None:
    """What is watched becomes the function's arguments; what the block itself sets is noted where it is watched."""
    for call in tape.watched:
        given = call.args[0] if call.args else None
        parts = given.elts if isinstance(given, ast.List | ast.Tuple) else [given]
        for part in parts:
            if isinstance(part, ast.Attribute) and part.attr in VARIABLES:
                continue  # these are watched anyway
            if not isinstance(part, ast.Name):
                tape.refusal = "what is watched has no name of its own"
            elif (
                part.id in stored
                and _stands_alone(facts, call)
                and tape.block is facts.parents.get(facts.statement_of(call))
            ):
                tape.noted.append(call)
            elif part.id in stored:
                tape.refusal = f"{part.id} is watched, and set in the same block"
            else:
                tape.inputs += [part.id] if part.id not in tape.inputs else []


def _changes(facts: Facts, tape: Tape) -> Iterator[Change]:
    calls = [item.context_expr for item in tape.block.items]
    yield claim(*calls, *(call.func for call in calls if isinstance(call, ast.Call)))
    for item in tape.block.items:
        yield claim_all(*[each for each in (item.context_expr, item.optional_vars) if each is not None])
    for call in (*tape.watched, *tape.gradients):
        yield claim(call, call.func)
    yield AtEnd(partial(_write, facts, tape))


def _write(facts: Facts, tape: Tape, texts: Texts) -> Iterator[Edit]:
    source, block = facts.source, tape.block
    outer, newline = source.indent(block), source.newline()
    is_one_line = block.body[0].lineno == block.lineno
    inner = f"{outer}    " if is_one_line else source.indent(tape.body[0])
    last_item = block.items[-1]
    end = source.end(last_item.optional_vars or last_item.context_expr)
    colon = source.find_token(b":", end, source.start(block.body[0]))
    before = source.data[source.start(block) : colon + 1].decode("utf-8")
    arguments = [*tape.inputs, *(f"{name}={name}" for name in tape.outer), *(f"{name}=None" for name in tape.unset)]
    header = f"def {tape.function}({', '.join(arguments)}):"
    opening = "".join(f"{newline}{inner}{each}" for each in declarations(tape.shared))
    if tape.before:
        yield ReplaceSpan(source.line_start(source.start(block)), source.line_end(colon), "")
        yield from dedented(source, source.line_end(colon), source.end(tape.before[-1]), inner, outer)
        watch = source.line_end(source.end(tape.before[-1]))
        yield InsertBefore(watch, f"{outer}{header}{opening}{newline}")
    elif is_one_line:
        yield ReplaceSpan(source.start(block), source.start(block.body[0]), f"{header}{opening}{newline}{inner}")
    else:
        yield ReplaceSpan(source.start(block), colon + 1, header + opening)
    yield from _remove_watches(facts, tape, texts)
    after = source.line_end(source.end(tape.body[-1]))
    is_last_line = not source.data[source.end(tape.body[-1]) : after].endswith(b"\n")
    lines = [f"{inner}return {', '.join([*tape.parts, *tape.outputs])}"]
    simple = _single_gradient(facts, tape)
    if simple is None:
        given = "".join(f", {name}" for name in tape.inputs)
        made = f"{texts.name('compat.RecordedTape')}({tape.function}{given})"
        lines.append(f"{outer}{' = '.join(tape.names)} = {made}")
        lines.append(f"{outer}{_targets(tape)} = {tape.names[0]}.outputs")
    else:
        yield from _write_single(facts, tape, simple, lines, outer, texts)
        yield from _remove_deletions(facts, tape)
    text = "".join(f"{line}{newline}" for line in lines)
    if tape.rest:  # what stands behind `after` loses its indentation
        yield ReplaceSpan(after - 1, after, f"\n{text}")
        yield from dedented(source, after, source.end(tape.rest[-1]), inner, outer)
    else:
        yield InsertBefore(after, (newline if is_last_line else "") + text)
    yield facts.record(block, TAPE, before, header)
    for call in tape.gradients:
        yield facts.record(call, f"{TAPE}.gradient", source.text(call), partial(_text_of, call))


def _text_of(node: ast.AST, texts: Texts) -> str:
    return texts.of(node)


def _targets(tape: Tape) -> str:
    names = [*("_" for _ in tape.parts), *tape.outputs]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _followers(facts: Facts, tape: Tape) -> list[ast.stmt]:
    """What comes after the function: the rest of the block, and what stands behind it."""
    around = facts.block_of(tape.block)
    return [*tape.rest, *around[around.index(tape.block) + 1 :]]


def _single_gradient(facts: Facts, tape: Tape) -> ast.Call | None:
    """The one call of gradient, if forward and backward may run together where the block ends."""
    if len(tape.gradients) != 1 or len(tape.names) != 1:
        return None
    call, statement = tape.gradients[0], facts.statement_of(tape.gradients[0])
    followers = _followers(facts, tape)
    if statement not in followers or len(call.args) != 2 or call.keywords or not _is_gradient(call):
        return None
    between = followers[: followers.index(statement)]
    changed = {
        node.id
        for each in between
        for node in facts.source.walk(each)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    wanted = {node.id for node in ast.walk(call.args[1]) if isinstance(node, ast.Name)}
    if wanted & changed or (tape.inputs and not wanted <= set(tape.inputs)):
        return None
    return call if not wanted & set(tape.outputs) else None


def _is_gradient(call: ast.Call) -> bool:
    """A jacobian runs the block once for each number, so it wants the tape itself."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "gradient"


def _write_single(
    facts: Facts, tape: Tape, call: ast.Call, lines: list[str], outer: str, texts: Texts
) -> Iterator[Edit]:
    statement = facts.statement_of(call)
    function = texts.name("compat.value_and_gradients")
    if tape.inputs:
        made = f"{function}({tape.function}, {texts.of(call.args[1])})"
    else:
        made = f"{function}({tape.function}, lambda: {texts.of(call.args[1])})"
    follows = _followers(facts, tape)[0] is statement
    is_assigned = isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1
    if follows and is_assigned and isinstance(statement, ast.Assign):
        start, target = facts.source.start(statement), statement.targets[0]
        name = texts.of(target) if isinstance(target, ast.Name) else f"({texts.of(target)})"
        yield ReplaceSpan(start, facts.source.end(statement), f"{_targets(tape)}, {name} = {made}", swallows=True)
        return
    gradients = facts.derived(_free_variables).find("gradients")
    lines.append(f"{outer}{_targets(tape)}, {gradients} = {made}")
    yield ReplaceNode(call, gradients, swallows=True)


def _free_variables(facts: Facts) -> FreeNames:
    return FreeNames(facts.source.stored)


def _remove_deletions(facts: Facts, tape: Tape) -> Iterator[Edit]:
    """`del tape`, where no tape is left to delete."""
    for statement in dict.fromkeys(tape.deleted):
        kept = [each.id for each in statement.targets if isinstance(each, ast.Name) and each.id not in tape.names]
        if kept:
            yield ReplaceNode(statement, f"del {', '.join(kept)}", swallows=True)
        elif len(facts.block_of(statement)) > 1:
            yield RemoveStatement(statement)
        else:
            yield ReplaceNode(statement, "pass", swallows=True)


def _remove_watches(facts: Facts, tape: Tape, texts: Texts) -> Iterator[Edit]:
    for call in tape.watched:
        statement = facts.statement_of(call)
        if call in tape.noted:
            name = texts.of(call.args[0])
            yield ReplaceNode(call, f"{name} = {texts.name('compat.noted')}({name})", swallows=True)
        elif len(facts.block_of(statement)) > 1 and isinstance(statement, ast.Expr):
            yield RemoveStatement(statement)
        else:
            yield ReplaceNode(call, "None", swallows=True)
