"""Where a lifted loss is computed: no statement may see another value, or another order of updates, than before."""

from __future__ import annotations

import ast
import bisect
import re
import sys

from ....read.guesses import looks_like_optimizer_wrapper
from ....read.uses import Use
from ....read.walk import children_of
from ....read.walk import walk_again as walk
from ...facts import Facts
from ...free_names import FreeNames
from ...refused import Refused
from . import flow, run_twice, set_first_values, sources, ways_out
from .plain_callables import is_function
from .scope_parts import Regions, simple_parts
from .steps import Backward, Rebound, is_optimizer, is_optimizer_method, obstacle

# Calls whose value is the same each time; a condition with another one can't be asked twice.
STEADY = frozenset("len isinstance hasattr getattr bool int float any all abs min max".split())
_CLEARING = re.compile(r"(?:zero|reset|clear|clean)\w*grad")
_CLIPPING = re.compile(r"clip\w*grad|grad\w*clip")


def settle(facts: Facts, each: Backward, others: run_twice.Lifted) -> None:
    """Choose the place, what has to stay as well, the condition, and what goes in and out. Raises Refused."""
    _place(facts, each)
    _guard(facts, each)
    run_twice.check_repeated(facts, each, others)
    if each.step is None:
        _clear_first(facts, each)
    each.anchor = _anchor(facts, each)
    each.rebound = _rebound(facts, each)
    _inputs_and_outputs(facts, each)
    if each.step is not None and each.outputs and not any(_may_be_tensor(facts, each, name) for name in each.outputs):
        each.step, each.idle, each.clips = None, [], []  # has_aux wants a tensor among the results
        _clear_first(facts, each)


def _may_be_tensor(facts: Facts, each: Backward, name: str) -> bool:
    stores = [node for s in each.lifted for node in facts.stores_in(s) if node.id == name]
    return any(facts.reading.type(node).kind not in ("int", "float", "bool", "str", "none") for node in stores)


def _place(facts: Facts, each: Backward) -> None:
    """Where the first lifted statement stands if its inputs are known there; else further down."""
    if not each.lifted:
        return
    block = ways_out.home(facts, each.lifted[-1], each.statement)
    places = {s: at for s in each.lifted if (at := ways_out.place_in(facts, s, block)) >= 0}
    inner, rest = list(places), ways_out.Rest(each.lifted)
    first, last = places[inner[0]], _end_of_graph(facts, each, block)
    stepped = facts.derived(_stepped).get(each.scope, set())
    last = max(last, _end_of_optimizers(block, stepped, first, ways_out.place_in(facts, each.statement, block)))
    own = set().union(*(flow.writes(statement) for statement in each.lifted))
    needed = set().union(*(flow.reads(part) for part in (*inner, *each.losses))) - own
    needed |= set(flow.read_before_written(facts, inner))  # `h = init()` before a loop of `h = net(h)`
    needed |= stepped - own  # their parameters are what the gradients are taken of
    between = [
        (index, block[index])
        for index in range(first, last)
        if block[index] not in inner and not _only_clears(facts, block[index])
    ]
    updates = [index for index, statement in between if _updates(facts, statement)]
    if not any(sources.carries(facts, part) for part in each.losses):
        updates = [index for index in updates if index < places[inner[-1]]]
    set_late = {index for index, s in between if flow.writes(s) & needed or rest.holds_some(s)}
    late = sorted(set_late | set(updates))
    end = max(late, default=first - 1)
    if any(index not in updates and index < end and _updates(facts, statement) for index, statement in between):
        raise Refused(f"line {block[end].lineno} sets what its loss needs after parameters have been updated")
    readers = [index for index, statement in between if rest.reads(statement) & own and index <= end]
    sees_old_value = any(rest.writes(block[at]) & flow.reads(s) for at in late for s in inner if places[s] < at)
    stay = any(obstacle(facts, s) or flow.writes(s) & stepped for _, s in between)  # an optimizer is made but once
    if (readers or sees_old_value) and not stay:
        moved, start = _past_leaves(facts, block, inner, first, last)
        together = [*moved, *(one for one in block[start:last] if not _only_clears(facts, one))]
        together += [statement for statement in inner if statement not in together]
        each.lifted = [*(s for s in each.lifted if s not in inner), *together]  # in their order, one function
        each.place = block[start] if moved else inner[0]
        return
    if sees_old_value:  # `a = f(x); x = g(x); b = f(x)`: moved down together, the first would read the second x
        raise Refused(f"line {inner[0].lineno} reads what line {block[end].lineno} changes before the loss is complete")
    each.place = next((statement for statement in inner if places[statement] > end), each.statement)
    each.retained = _with_what_they_need(
        each,
        [s for s in inner if any(flow.writes(s) & rest.reads(block[index]) for index in readers if index >= places[s])],
    )
    if twice := [s for s in each.retained if ways_out.is_elif(facts, s)]:
        raise Refused(f"the branches from line {twice[0].lineno} on are needed by it and by other statements")
    is_inside = each.place is each.statement and facts.block_of(each.statement) is not block
    _keep_outer(facts, each, [statement for statement in each.lifted if is_inside or statement not in inner])


def _end_of_optimizers(block: list[ast.stmt], stepped: set[str], first: int, end: int) -> int:
    """`loss = …; opt = Adam(net.parameters()); loss.backward(); opt.step()`: behind the last line that makes one."""
    return max((at + 1 for at in range(first, end) if flow.writes(block[at]) & stepped), default=first)


def _past_leaves(
    facts: Facts, block: list[ast.stmt], inner: list[ast.stmt], first: int, last: int
) -> tuple[list[ast.stmt], int]:
    """A leaf stays where the optimizer and the lines behind the backward() see it: what stands before it goes down past it."""
    leaves = set(sources.own_leaves(facts, inner))
    making = [index for index in range(first, last) if flow.writes(block[index]) & leaves and block[index] not in inner]
    if not making:
        return [], first
    start = making[-1] + 1
    moved = [statement for statement in block[first:start] if statement in inner]
    needed, set_there = (set().union(*map(names, moved)) for names in (flow.reads, flow.writes))
    for statement in block[first:start]:
        if statement not in moved and (
            flow.writes(statement) & (needed | set_there) or flow.reads(statement) & set_there
        ):
            raise Refused(
                f"line {statement.lineno} stands between what the loss is computed by and the leaf that it reads"
            )
    return moved, start


def _end_of_graph(facts: Facts, each: Backward, block: list[ast.stmt]) -> int:
    """Where all that the loss reads must be known: its last statement, or the backward() if that computes with more."""
    ends = ((ways_out.place_in(facts, one, block), one) for one in reversed(each.lifted))
    last = next(place + (block[place] is not one) for place, one in ends if place >= 0)  # behind a condition around it
    if all(isinstance(part, ast.Name) for part in each.losses) and not each.directions:
        return last
    current: ast.AST | None = each.statement
    while current is not None and not _stands_in(facts, current, block):
        current = facts.parents.get(current)
    return facts.place_of(current) if isinstance(current, ast.stmt) else last


def _stands_in(facts: Facts, node: ast.AST, block: list[ast.stmt]) -> bool:
    return isinstance(node, ast.stmt) and facts.block_of(node) is block


def _only_clears(facts: Facts, statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and is_clearing(statement.value)


def is_clearing(node: ast.AST) -> bool:
    """zero_grad() of anything: a class that wraps an optimizer clears its gradients too."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "zero_grad"


def _watches_gradients(facts: Facts, node: ast.AST) -> bool:
    """Reads the gradients, or clips them: before the backward() it finds those of the step before, or none."""
    match node:
        case ast.Attribute(attr="grad"):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return facts.is_use(Use.CLIPS, node.func) or _CLIPPING.search(name.lower()) is not None
    return False


def _clears_inside(facts: Facts, node: ast.AST) -> bool:
    """`reset_grad()`, `self.reset_grad()`: a function of the project's that clears gradients, told by its body or else by its name."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in facts.reading.symbols.clearing or _CLEARING.search(name.lower()) is not None
    return False


def _updates(facts: Facts, statement: ast.stmt) -> bool:
    return any(_is_update(facts, node) for node in walk(statement))


def _is_update(facts: Facts, node: ast.AST) -> bool:
    """A step of an optimizer, or of an object that wraps one: `self.optim_schedule.step_and_update_lr()`."""
    if is_optimizer_method(facts, node, "step"):
        return True
    match node:
        case ast.Call(func=ast.Attribute(attr="step"), args=[given, *_]) if is_optimizer(facts, given):
            return True  # `scaler.step(optimizer)`
        case ast.Call(func=ast.Attribute(attr=name, value=owner)):
            return name.startswith("step") and looks_like_optimizer_wrapper(facts.source.text(owner))
    return False


def _with_what_they_need(each: Backward, chosen: list[ast.stmt]) -> list[ast.stmt]:
    found = set(chosen)
    for statement in reversed(each.lifted):
        if any(flow.writes(statement) & flow.reads(later) for later in found if later.lineno > statement.lineno):
            found.add(statement)
    return [statement for statement in each.lifted if statement in found]


def _keep_outer(facts: Facts, each: Backward, outer: list[ast.stmt]) -> None:
    """Lifted from outside of the condition that the backward() stands under: they stay if anything else reads what they write."""
    if not outer:
        return
    region, own = facts.derived(Regions).of(each.scope), _own_parts(each)
    read_elsewhere = [
        statement
        for statement in outer
        if any(region.readers_between(name, 0, sys.maxsize, own) for name in flow.writes(statement))
    ]
    kept = _with_what_they_need(each, read_elsewhere)
    kept = [statement for statement in kept if statement in outer]
    each.retained += [statement for statement in kept if statement not in each.retained]
    each.repeated = kept
    for statement in outer:
        needed = flow.reads(statement) - flow.writes(statement)
        for node in region.between(facts.source.start(statement), facts.source.start(each.place), own):
            if region.writes[node] & needed:
                raise Refused(
                    f"line {statement.lineno} reads what line {getattr(node, 'lineno', 0)} changes before the loss is complete"
                )


def _guard(facts: Facts, each: Backward) -> None:
    """`if training: loss.backward()`, with the loss computed before it either way."""
    home = facts.block_of(each.place)
    current: ast.stmt = each.statement
    tests: list[tuple[ast.expr, bool]] = []
    while facts.block_of(current) is not home:
        parent = facts.parents[current]
        if isinstance(parent, ast.If):
            tests.append((parent.test, current in parent.body))
        if not isinstance(parent, ast.stmt):
            break
        current = parent
    if not tests:
        return
    is_home = facts.block_of(current) is home
    after = home[facts.place_of(each.place) : facts.place_of(current)] if is_home else []
    changed = set().union(*(flow.writes(statement) for statement in (*after, *each.lifted)))
    if all(not flow.reads(test) & changed and _is_steady(test) for test, _ in tests):
        each.guards = tests[::-1]
    elif each.step is None:
        each.is_kept_later = True


def _is_steady(test: ast.expr) -> bool:
    calls = [node for node in walk(test) if isinstance(node, ast.Call)]
    return all(isinstance(call.func, ast.Name) and call.func.id in STEADY for call in calls)


def _clear_first(facts: Facts, each: Backward) -> None:
    """zero_grad() between the forward and the backward clears before: the gradients of this loss come with the forward here."""
    if each.is_kept_later:
        return
    if ways_out.between(facts, each.place, each.statement, each.scope):
        each.is_kept_later, each.guards = True, []  # `if not isfinite(loss): continue`: then there is no backward()
        return
    on_the_way = _on_the_way(facts, each)
    is_watched = any(_watches_gradients(facts, node) for node in on_the_way)
    is_second = any(
        isinstance(node, ast.Attribute) and node.attr in ("backward", "manual_backward") for node in on_the_way
    )
    for node in on_the_way:
        if not isinstance(node, ast.Call) and not is_watched:
            continue
        statement = facts.parents[node]
        if is_clearing(node) and not is_second and not is_watched:
            is_near = isinstance(statement, ast.Expr) and (
                facts.block_of(statement) is facts.block_of(each.place)
                or (each.guards and facts.block_of(statement) is each.block)
            )
            if is_near:
                assert isinstance(statement, ast.Expr)
                each.cleared.append(statement)
                continue
        elif not (is_clearing(node) or _clears_inside(facts, node) or _is_update(facts, node) or is_watched):
            continue
        each.is_kept_later, each.guards, each.cleared = True, [], []
        return


def _on_the_way(facts: Facts, each: Backward) -> list[ast.AST]:
    """What the code comes by between the call's place and the backward(), without the other sides of conditions around it."""
    start, end = facts.source.start(each.place), facts.source.start(each.statement)
    others = {node for statement in each.merged for node in walk(statement)}
    current: ast.AST = each.statement
    while current is not each.scope:
        parent = facts.parents[current]
        if isinstance(parent, ast.If):
            side = parent.orelse if current in parent.body else parent.body
            others |= {node for statement in side for node in walk(statement)}
        current = parent
    nodes, place = facts.derived(_calls_and_attributes), facts.source.start
    low, high = bisect.bisect_right(nodes, start, key=place), bisect.bisect_left(nodes, end, key=place)
    return facts.source.in_tree_order(node for node in nodes[low:high] if node not in others)


def _calls_and_attributes(facts: Facts) -> list[ast.AST]:
    """In the order of the text."""
    return sorted([*facts.source.of(ast.Call), *facts.source.of(ast.Attribute)], key=facts.source.start)


def _anchor(facts: Facts, each: Backward) -> ast.stmt:
    """The functions go before the outermost loop whose body doesn't rebind what they are made with."""
    loops: list[ast.stmt] = []
    current: ast.AST = each.place
    while (parent := facts.parents.get(current)) is not None and parent is not each.scope:
        if isinstance(parent, ast.For | ast.While):
            loops.append(parent)
        current = parent
    makers = facts.derived(_stepped).get(each.scope, set())
    usable = [loop for loop in loops if not flow.writes(loop) & makers]
    return usable[-1] if usable else each.place


def _stepped(facts: Facts) -> dict[ast.AST, set[str]]:
    """What step() is called of, by the function that it stands in and those around that; the module has them all."""
    found: dict[ast.AST, set[str]] = {}
    for node in facts.source.calls_named("step"):
        if not isinstance(node.func, ast.Attribute) or not is_optimizer_method(facts, node, "step"):
            continue
        name, scope = flow.key(node.func.value), facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
        while name and scope is not None:
            found.setdefault(scope, set()).add(name)
            scope = facts.enclosing(scope, ast.FunctionDef, ast.AsyncFunctionDef)
        if name:
            found.setdefault(facts.source.tree, set()).add(name)
    return found


def _inputs_and_outputs(facts: Facts, each: Backward) -> None:
    own = {name for statement in each.lifted for name in flow.writes(statement)}
    earlier = flow.read_before_written(facts, [*each.lifted, *each.losses])
    varying = {name for name in earlier if name not in own and _is_varying(facts, each, name)}
    region, gone = facts.derived(Regions).of(each.scope), _own_parts(each)
    losses = {flow.key(each.loss)} if not each.others and not each.directions else set()
    losses -= set(each.rebound)
    kept = each.bound_before - set(each.rebound)
    own_leaves = set(
        sources.own_leaves(facts, [*each.lifted, *each.others, each.loss])
    )  # parameters: found by the function itself
    # A leaf that the function rebinds, as `x = x * 2` does, comes in as an argument all the same.
    each.inputs = [name for name in earlier if name in own or (name in varying and name not in own_leaves)]
    state = set(each.inputs) & own if _in_loop(facts, each) else set()  # what the next iteration starts from
    written = flow.written_in_order(facts, each.lifted)
    beside = _read_beside_handed(facts, each) | state
    each.outputs = [
        name
        for name in written
        if name not in losses and name not in kept and (name in beside or region.is_read(name, gone))
    ]
    _bind(facts, each, set(written) & {*each.outputs, *losses})


def _own_parts(each: Backward) -> set[ast.AST]:
    """The simple parts of what is lifted, and of the backward() itself."""
    return set(simple_parts([*each.lifted, each.statement, *each.merged]))


def _read_beside_handed(facts: Facts, each: Backward) -> set[str]:
    """What a statement reads beside the loss that it hands on: it stays where it is."""
    if each.handed is None:
        return set()
    found: set[str] = set()
    inner: ast.AST = each.handed
    while inner is not each.statement:
        outer = facts.parents[inner]
        found |= {name for part in children_of(outer) if part is not inner for name in flow.reads(part)}
        inner = outer
    return found


def _is_varying(facts: Facts, each: Backward, name: str) -> bool:
    """Whether it may be another value each time: set in the loop around, or data of the function."""
    loop = each.anchor if isinstance(each.anchor, ast.For | ast.While) else None
    is_set = facts.derived(Regions).of(loop or each.scope).is_written(name, set(simple_parts(each.lifted)))
    if loop is not None:
        return is_set and not is_function(facts, each.lifted, name)
    arguments = each.scope.args.args if isinstance(each.scope, ast.FunctionDef | ast.AsyncFunctionDef) else []
    return (is_set or any(name == argument.arg for argument in arguments)) and _is_data(facts, each, name)


def _rebound(facts: Facts, each: Backward) -> dict[str, Rebound]:
    """`v = loss.item(); loss /= 2`: the first reads what the call has bound by then, so that must be the value before the second."""
    block = facts.block_of(each.place)
    inner = [
        statement
        for statement in each.lifted
        if facts.block_of(statement) is block and statement.lineno > each.place.lineno
    ]
    free, region, own = facts.derived(_free_names), facts.derived(Regions).of(each.scope), _own_parts(each)
    handed = _read_beside_handed(facts, each) | ({flow.key(each.loss)} if each.handed is not None else set())
    found, first_lines, all_makers = {}, dict[str, int](), dict[str, list[ast.stmt]]()
    for statement in each.lifted:
        for name in flow.writes(statement):
            first_lines[name] = min(statement.lineno, first_lines.get(name, statement.lineno))
    for statement in inner:
        for name in flow.writes(statement):
            all_makers.setdefault(name, []).append(statement)
    for name in sorted(filter(str.isidentifier, all_makers)):
        makers = all_makers[name]
        between = region.readers_between(name, _line(each.place), makers[-1].lineno, own)
        makers = [statement for statement in makers if between and statement.lineno > _line(between[0])]
        if not makers or first_lines[name] >= _line(between[0]):
            continue
        if any(_line(node) > makers[0].lineno for node in between):
            raise Refused(
                f"{name} is read between the lines that bind it again, {makers[0].lineno} and {makers[-1].lineno}"
            )
        is_read_later = region.count_readers(name, own) > len(between) or name in handed
        before, after = (free.find(f"{name}_{word}") for word in ("before", "after"))
        found[name] = Rebound(makers[0], makers[-1], before, after if is_read_later else "")
    return found


def _free_names(facts: Facts) -> FreeNames:
    return FreeNames(facts.source.named)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _in_loop(facts: Facts, each: Backward) -> bool:
    loop = facts.enclosing(each.place, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return isinstance(loop, ast.For | ast.While)


def _bind(facts: Facts, each: Backward, returned: set[str]) -> None:
    """A name that only some ways through the code set must be something at the call and at the return."""
    each.unbound = sorted(returned - flow.surely_written(each.lifted) - set(each.inputs))
    for name in each.inputs:
        first = set_first_values.place_for(facts, each, name)
        if first is not None:
            each.first_values.append((first, name))


def _is_data(facts: Facts, each: Backward, name: str) -> bool:
    kinds = [
        facts.reading.type(node).kind
        for statement in each.lifted
        for node in walk(statement)
        if isinstance(node, ast.Name) and node.id == name
    ]
    called = any(
        isinstance(node, ast.Call) and flow.key(node.func) == name
        for statement in each.lifted
        for node in walk(statement)
    )
    return bool(kinds) and not called and all(kind in ("tensor", "unknown", "list", "tuple", "dict") for kind in kinds)
