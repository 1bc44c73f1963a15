"""What a compiled step would not see: MindSpore 2.10 compiles values, settings and modes in, and a parameter's memory.

Each of these was run (tests/styles/test_compiled_state.py): other values of parameters, attributes and globals that change
between two steps, another mode, numbers drawn by Python or numpy, and what the step itself keeps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....apis import framework
from ....read.uses import Use
from ....read.walk import walk_again as walk
from ...changes_between_steps import LAMBDA, Changes, changes_of, changes_of_file, is_mode, reached, trains
from ...refused import Refused
from ...repeated_calls import DRAWS
from .draft import Draft
from .steps import Backward
from .varying_numbers import check_numbers

LOOPS = (ast.For, ast.While)
DYNAMIC = frozenset({"__getattr__", "__getattribute__", "__get__", "__set__", "__setattr__"})
HOOKS = frozenset(
    "register_forward_hook register_forward_pre_hook register_full_backward_hook register_backward_hook register_hook".split()
)


def check_state(draft: Draft, each: Backward) -> None:
    """Refuses where a compiled step would go on with what is no longer so."""
    path = [node for node in _path(draft, each) if isinstance(node, LOOPS)]
    if not path:
        return
    project = draft.settings.changes
    if draft.is_notebook or not project:  # a notebook's cells are not among the project's files
        project = (*project, *changes_of_file(draft.source))
    loop = path[-1]
    between = reached(changes_of(draft.source, (loop,)), project)
    has_frozen = any(part.frozen for part in project)
    if frozen := next((where for part in between if (where := part.frozen or (has_frozen and part.thawed))), ""):
        raise Refused(f"{_line(draft, frozen)} says anew which parameters have gradients, which is compiled in")
    if replaced := next((part.replaced for part in between if part.replaced), ""):
        raise Refused(
            f"{_line(draft, replaced)} gives parameters other values, or layers other settings, "
            "which a step that is compiled by then does not see"
        )
    if tuned := next((part.tuned for part in between if part.tuned), ""):
        raise Refused(f"{_line(draft, tuned)} changes more of an optimizer than its rate, which is compiled in")
    moves = framework().uses
    if schedules := sorted(word for part in project for word in part.mentions if moves.has(Use.MOVES_MOMENTUM, word)):
        raise Refused(f"{schedules[0]} moves the momentum too, which is compiled in")
    check_numbers(draft, each, path[0])
    _check_modes(draft, each, project)
    _check_compiled_code(draft, each, between, project, loop)


def _check_compiled_code(
    draft: Draft, each: Backward, between: list[Changes], project: tuple[Changes, ...], loop: ast.AST
) -> None:
    own = changes_of(draft.source, each.lifted)
    networks = [part for part in project if part.name == "forward"]
    inside = [*(part for network in networks for part in reached(network, project)), *reached(own, project)]
    if drawn := next((part.drawn for part in inside if part.drawn), ""):
        raise Refused(
            f"{_line(draft, drawn)} draws numbers, or asks for the time, once and for all where it is compiled"
        )
    if taken := next((part.taken for part in inside if part.taken), ""):
        raise Refused(f"{_line(draft, taken)} takes values out of MindSpore, which come out wrong where it is compiled")
    if kept := next((part.kept for part in inside if part.kept), ""):
        raise Refused(f"{_line(draft, kept)} keeps something, which a compiled step does once, or without its gradient")
    if padded := next((part.padded for part in project if part.padded), ""):
        raise Refused(
            f"{_line(draft, padded)} pads, and MindSpore 2.10 computes wrong gradients of that where it is compiled"
        )
    if hooks := sorted({word for part in project for word in part.mentions & HOOKS}):
        raise Refused(f"the project calls {hooks[0]}(), and hooks are not compiled as they run")
    sets = {word for part in between for word in part.sets}
    handed = set(each.inputs) - _plain_inputs(draft, each) & sets
    seen = own.reads - handed - (_names(loop) - sets - _called(each))
    seen = seen.union(*(part.reads for part in inside if part is not own))
    if changed := sorted(seen & (sets | _names(loop)) - {"", "self", "grad"}):
        raise Refused(f"`{changed[0]}`, which it reads, may change between two steps, and is compiled in")
    _check_reads(draft, inside, own, between, project, loop)
    draws = any(DRAWS.search(word) for part in project for word in part.mentions)
    if draws and (again := next((part.again for part in inside if part.again), "")):
        raise Refused(
            f"{_line(draft, again)} calls something twice with the same input, and MindSpore 2.10 compiles both as one: "
            "dropout and noise would be the same in both"
        )


def _check_reads(
    draft: Draft,
    inside: list[Changes],
    own: Changes,
    between: list[Changes],
    project: tuple[Changes, ...],
    loop: ast.AST,
) -> None:
    """Refuses where compiled code reads anything from outside that is not known to stay as it is."""
    if named := sorted(DYNAMIC & {part.name for part in project}):
        raise Refused(f"the project defines {named[0]}, and what it gives is not known")
    files = [part.names for part in project if part.names is not None]
    handed = {name for names in files for name in names.handed} - {part.name for part in between}
    seen = [part for part in inside if part is not own]
    seen += [
        found for part in project if part.name in handed or part.name == LAMBDA for found in reached(part, project)
    ]
    steady = {name for names in files for name in names.steady} - {name for names in files for name in names.loose}
    given = {name for names in files for name in names.given}
    for part in seen:
        unsteady = [part.unsteady] if part.unsteady else sorted(part.borrowed - steady) or sorted(part.entries & given)
        if unsteady:
            raise Refused(f"{part.name} reads `{unsteady[0]}`, which may be another thing later, and is compiled in")
    held = {name for names in files for name in names.held}
    written = {word for part in between for word in part.written if word != "self"} | _added_to(loop)
    if shared := sorted(held & written):
        raise Refused(f"`{shared[0]}` is written to between two steps, and what it was given to may be compiled in")
    if altered := next((part.altered for part in between if part.altered), ""):
        raise Refused(f"{_line(draft, altered)} changes what it is given, which may be a part of the network")


def _added_to(loop: ast.AST) -> set[str]:
    """`table *= 0.5`, which writes into an array."""
    return {
        node.target.id for node in walk(loop) if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }


def _plain_inputs(draft: Draft, each: Backward) -> set[str]:
    """What is handed to the step and known to be no tensor, such as an array, which a compiled one refuses."""
    nodes = [node for root in each.lifted for node in walk(root) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if draft.reading.type(node).kind not in ("tensor", "unknown")}


def _called(each: Backward) -> set[str]:
    """Plain names that the step calls, and does not bind itself: a function is not handed to it."""
    nodes = [node for root in each.lifted for node in walk(root)]
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)} - bound


def _names(loop: ast.AST) -> set[str]:
    """Plain names that the loop binds: they are handed to the step, or bound in it."""
    return {node.id for node in walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _line(draft: Draft, place: str) -> str:
    path, _, line = place.rpartition(":")
    return f"line {line}" if path == draft.source.path else f"line {line} of {path}"


def _path(draft: Draft, each: Backward) -> Iterator[ast.AST]:
    """What stands around the step, within its function."""
    node: ast.AST = each.place
    while (parent := draft.parents.get(node)) is not None and parent is not each.scope:
        yield parent
        node = parent


def _check_modes(draft: Draft, each: Backward, project: tuple[Changes, ...]) -> None:
    """Whether all networks are in the same mode at every step; refuses where that is not certain.

    From the inside out: what a loop does after the step, or under a condition, is undone by a plain `net.train()` on the way to the step.
    """
    settled: set[str] = set()
    place: ast.AST = each.place
    for owner in (*_path(draft, each), each.scope):
        body = next((block for block in _blocks(owner) if place in block), [])
        index = body.index(place) if place in body else 0
        for statement in reversed(body[:index]):
            if isinstance(statement, ast.Expr) and is_mode(statement.value) and _is_plain(statement.value):
                settled.add(_owner(statement.value))
            elif owner is not each.scope:
                _check_mode(draft, statement, project, settled)
        if isinstance(owner, LOOPS):
            again = set(settled)
            for statement in reversed(body[index:]):
                if isinstance(statement, ast.Expr) and is_mode(statement.value) and trains(statement.value):
                    again.add(_owner(statement.value))
                else:
                    _check_mode(draft, statement, project, again)
        place = owner
        if owner is each.scope:
            break


def _blocks(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(owner, name, None)
        if isinstance(block, list):
            yield block


def _owner(call: ast.Call) -> str:
    """The network whose mode is set."""
    assert isinstance(call.func, ast.Attribute)
    return ast.unparse(call.func.value)


def _is_plain(call: ast.AST) -> bool:
    return trains(call) or (isinstance(call, ast.Call) and not call.args and not call.keywords)


def _check_mode(draft: Draft, statement: ast.stmt, project: tuple[Changes, ...], settled: set[str]) -> None:
    last: dict[str, ast.Call] = {}
    for node in walk(statement):
        if is_mode(node):
            owner = _owner(node)
            if owner not in last or (last[owner].lineno, last[owner].col_offset) < (node.lineno, node.col_offset):
                last[owner] = node
    for owner, call in last.items():
        if owner not in settled and not trains(call):
            raise Refused(f"line {call.lineno} may change the mode of {owner} between two steps, which is compiled in")
    own = changes_of(draft.source, (statement,))
    called = next((part.mode for part in reached(own, project)[1:] if part.mode), "")
    if called and not settled:
        raise Refused(f"{_line(draft, called)} may change a network's mode between two steps, which is compiled in")
