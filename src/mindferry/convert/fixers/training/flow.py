"""What statements read and write, and which of them a loss is computed by."""

from __future__ import annotations

import ast
import bisect
import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping

from ....read.walk import children_of, kept_by_node
from ....read.walk import walk_again as walk
from ...facts import Facts

UPDATES = ("backward", "manual_backward", "step", "zero_grad")
AGAIN = 1 << 16  # statements whose names are kept: what asks for one soon asks for it again
MAY_CUT = (ast.Call, ast.With, ast.Attribute)
LOOPS = (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
STORED = (ast.Name, ast.Attribute, ast.Subscript)
CUT = {"detach", "item", "numpy", "tolist"}  # methods whose result carries no gradient
ENDING_CALLS = ("exit", "_exit", "quit", "abort")  # of sys, os and the interpreter


def key(node: ast.expr) -> str:
    """`x` or `self.x` as a variable's name; '' for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f"self.{node.attr}"
    return ""


@kept_by_node(AGAIN)
def reads(node: ast.AST, with_gradient: bool = False) -> frozenset[str]:
    """Variables that it uses; with_gradient: only where a gradient could flow through."""
    found: set[str] = set()
    stack = [node]
    while stack:
        here = stack.pop()
        kind = type(here)
        if kind is ast.Name:
            if type(here.ctx) is not ast.Store:  # type: ignore[attr-defined]  # what `del` takes away must be there
                found.add(here.id)  # type: ignore[attr-defined]
            continue
        if with_gradient and kind in MAY_CUT and is_cut(here):
            continue
        if kind is ast.Attribute and type(here.ctx) is ast.Load and (name := key(here)):  # type: ignore[attr-defined,arg-type]
            found.add(name)
            continue
        if kind is ast.AugAssign:
            found.add(key(here.target))  # type: ignore[attr-defined]
        if isinstance(here, LOOPS) and here is not node:
            found |= reads(here, with_gradient)
        elif isinstance(here, LOOPS):
            found |= _read_by_loop(here, with_gradient)
        else:
            stack += children_of(here)
    return frozenset(found - {""})


def _read_by_loop(loop: ast.AST, with_gradient: bool) -> set[str]:
    """What the loop itself binds, `i` of `for i in range(3)`, is no variable that it uses: the i of an earlier loop is another."""
    match loop:
        case ast.For(target=target, iter=source) | ast.AsyncFor(target=target, iter=source):
            targets, outer = [target], source
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts):
            targets, outer = [each.target for each in parts], parts[0].iter
        case ast.GeneratorExp(generators=parts) | ast.DictComp(generators=parts):
            targets, outer = [each.target for each in parts], parts[0].iter
        case _:
            return set()
    bound = {name.id for target in targets for name in walk(target) if isinstance(name, ast.Name)}
    return {name for part in children_of(loop) for name in reads(part, with_gradient)} - bound | reads(
        outer, with_gradient
    )


def is_cut(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CUT:
        return True
    if isinstance(node, ast.With):
        return any(_switches_off(item.context_expr) for item in node.items)
    return isinstance(node, ast.Attribute) and node.attr in ("data", "grad")


def _switches_off(node: ast.expr) -> bool:
    """`torch.no_grad()` itself; not one of two contexts, chosen by a condition."""
    if not isinstance(node, ast.Call):
        return False
    name = (
        node.func.attr
        if isinstance(node.func, ast.Attribute)
        else node.func.id
        if isinstance(node.func, ast.Name)
        else ""
    )
    given = [*node.args, *(each.value for each in node.keywords)]
    if name == "no_grad" or not given:
        return name in ("no_grad", "inference_mode")
    wanted = {"inference_mode": True, "set_grad_enabled": False}.get(name)
    return wanted is not None and isinstance(given[0], ast.Constant) and given[0].value is wanted


@kept_by_node(AGAIN)
def writes(node: ast.AST) -> frozenset[str]:
    """Variables that it sets, in place included: `x = …`, `x += …`, `x[i] = …`, `x.fill_(0)`, loop targets."""
    found: set[str] = set()
    inner: set[ast.AST] = set()
    for here in walk(node):
        if isinstance(here, ast.Call):
            if (
                isinstance(here.func, ast.Attribute)
                and _changes_receiver(here.func.attr)
                and not _changes_parameters(here)
            ):
                found.add(key(here.func.value))
        elif isinstance(here, STORED) and type(here.ctx) is ast.Store:
            if here not in inner:
                found.add(key(here.value if isinstance(here, ast.Subscript) else here))
        elif isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef) and here is not node:
            inner |= _own_variables(here)
    return frozenset(found - {""})


def _own_variables(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[ast.AST]:
    """Where it binds names that are its own: the `loss` of a closure is no other `loss`."""
    parts = list(walk(function))
    others = {name for part in parts if isinstance(part, ast.Nonlocal | ast.Global) for name in part.names}
    return {
        part for part in parts if isinstance(part, ast.Name) and type(part.ctx) is ast.Store and part.id not in others
    }


def _changes_receiver(name: str) -> bool:
    is_in_place = name.endswith("_") and not name.startswith("_") and not name.endswith("__")
    # What a hook makes of a gradient goes on to whatever the tensor was computed from.
    return is_in_place or name in ("append", "extend", "insert", "appendleft", "update", "register_hook")


def _changes_parameters(call: ast.Call) -> bool:
    """`utils.clip_grad_value_(net.parameters(), 1.0)`: a module's function, which changes what it is given."""
    match call.args:
        case [ast.Call(func=ast.Attribute(attr="parameters")), *_]:
            return True
    return False


def changed_arguments(facts: Facts, function: ast.FunctionDef) -> set[str]:
    """Arguments that a function changes in place, and never binds anew: `t.mul_(k)`, `t[0] = 1`, `t += k`."""
    arguments = {each.arg for each in (*function.args.posonlyargs, *function.args.args)}
    bound: set[str] = set()
    found: set[str] = set()
    for node in map(facts.as_read, walk(function)):
        match node:
            case ast.AugAssign(target=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name))):
                found.add(name)
            case ast.Assign(targets=targets):
                bound |= {each.id for each in targets if isinstance(each, ast.Name)}
                found |= {key(each.value) for each in targets if isinstance(each, ast.Subscript)}
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Name(id=name))) if method.endswith("_"):
                found.add(name)
    return found & arguments - bound


def written_in_order(facts: Facts, statements: Iterable[ast.stmt]) -> list[str]:
    """Plain names that the statements bind, in the order of the text."""
    nodes = [node for statement in statements for node in facts.stores_in(statement)]
    inner = {name for statement in statements for name in comprehension_names(statement)}
    return [
        name for name in dict.fromkeys(node.id for node in sorted(nodes, key=facts.source.start)) if name not in inner
    ]


def comprehension_names(node: ast.AST) -> Iterator[str]:
    for each in walk(node):
        if isinstance(each, ast.comprehension):
            yield from (name.id for name in walk(each.target) if isinstance(name, ast.Name))


Beginning = tuple[list[ast.stmt], int]  # the first statements of a block


def statements_before(facts: Facts, statement: ast.stmt, scope: ast.AST) -> list[Beginning]:
    """What stands before it, looking out of `if`, `with` and `try` blocks up to the loop or function; the outermost first."""
    before: list[Beginning] = [(facts.block_of(statement), facts.place_of(statement))]
    current: ast.AST = statement
    while isinstance(parent := facts.parents[current], ast.If | ast.With | ast.Try) and parent is not scope:
        before.append((facts.block_of(parent), facts.place_of(parent)))
        current = parent
    return before[::-1]


def upwards(before: list[Beginning]) -> Iterator[ast.stmt]:
    """The statements, the last first."""
    return (block[place] for block, end in reversed(before) for place in range(end - 1, -1, -1))


def slice_for(
    facts: Facts,
    before: list[Beginning],
    loss: ast.expr,
    changed: Mapping[ast.stmt, set[str]],
    makes_object: Callable[[Facts, ast.stmt], bool] = lambda *_: False,
) -> list[ast.stmt]:
    """Of whole beginnings."""
    return slice_of(facts, [(block, 0, end) for block, end in before], loss, changed, makes_object)


def slice_of(
    facts: Facts,
    parts: Iterable[tuple[list[ast.stmt], int, int]],
    loss: ast.expr,
    changed: Mapping[ast.stmt, set[str]],
    makes_object: Callable[[Facts, ast.stmt], bool] = lambda *_: False,
) -> list[ast.stmt]:
    """The statements, in order, through which a gradient could reach the loss; `changed`: what functions change in place.

    What a network is made of, or taken from, is no part of the computation.

    From the loss upwards, from one statement that sets something needed to the next: the others are not looked at.
    """
    needed = reads(loss, with_gradient=True)
    chosen: list[ast.stmt] = []
    for block, start, end in reversed(list(parts)):
        writers = facts.derived(_Writers).of(block, changed)
        waiting = [-place for name in needed if (place := writers.last(name, end)) >= start]
        heapq.heapify(waiting)
        while waiting:
            place = -heapq.heappop(waiting)
            statement, following = block[place], writers.written[place]
            if place < end and following & needed and not _is_call_of(statement, UPDATES):
                chosen.append(statement)
                needed -= _replaces(facts, statement)
                taken = frozenset[str]() if makes_object(facts, statement) else reads(statement, with_gradient=True)
                needed |= taken
                following = following | taken
            if place < end:
                end = place
                for name in following & needed:
                    if (earlier := writers.last(name, place)) >= start:
                        heapq.heappush(waiting, -earlier)
    return chosen[::-1]


class _Writers:
    """Which statements of a block set a name; told once a block."""

    def __init__(self, facts: Facts) -> None:
        self._found: dict[int, _BlockWriters] = {}

    def of(self, block: list[ast.stmt], changed: Mapping[ast.stmt, set[str]]) -> _BlockWriters:
        if id(block) not in self._found:  # the tree keeps the block
            self._found[id(block)] = _BlockWriters(block, changed)
        return self._found[id(block)]


class _BlockWriters:
    def __init__(self, block: list[ast.stmt], changed: Mapping[ast.stmt, set[str]]) -> None:
        self.written = [writes(statement) | changed.get(statement, set()) for statement in block]
        self._places: dict[str, list[int]] = {}
        for place, names in enumerate(self.written):
            for name in names:
                self._places.setdefault(name, []).append(place)

    def last(self, name: str, end: int) -> int:
        """The place of the last one before another; -1 if there is none."""
        places = self._places.get(name, [])
        index = bisect.bisect_left(places, end)
        return places[index - 1] if index else -1


def _replaces(facts: Facts, statement: ast.AST) -> set[str]:
    """Variables that get a new value whatever they held before."""
    if isinstance(statement, ast.With):
        return set().union(*(_replaces(facts, each) for each in statement.body))
    statement = facts.as_read(statement)
    if isinstance(statement, ast.AnnAssign):
        return {key(statement.target)} if statement.value is not None else set()
    if not isinstance(statement, ast.Assign):
        return set()
    return {key(each) for target in statement.targets for each in _unpacked(target)} - {""}


def _unpacked(target: ast.expr) -> Iterator[ast.expr]:
    """`h`, `k` and `n` of `(h, k), n`."""
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _unpacked(each)
    else:
        yield target


def surely_written(statements: Iterable[ast.stmt]) -> set[str]:
    """Plain names that are set whichever way is taken through the statements; a loop is taken to run at least once."""
    found: set[str] = set()
    for each in statements:
        if isinstance(each, ast.If | ast.Match):
            sides = [surely_written(side) for side in branches(each) if not leaves(side)]
            found |= set.intersection(*sides) if sides else set()
        elif isinstance(each, ast.With | ast.For | ast.While):
            found |= surely_written(each.body) | {name for part in _headers(each) for name in writes(part)}
        elif isinstance(each, ast.Try):
            sides = [surely_written(side.body) for side in each.handlers if not leaves(side.body)]
            found |= surely_written(each.finalbody) | set.intersection(surely_written(each.body), *sides)
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(each.name)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in each.names}
        elif isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            found |= writes(each)
    return found


def leaves(block: list[ast.stmt]) -> bool:
    """Whether what stands behind the block is never reached from it."""
    match block[-1:]:
        case [
            ast.Return() | ast.Raise() | ast.Continue() | ast.Break() | ast.Assert(test=ast.Constant(value=False | 0))
        ]:
            return True
        case [ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)))]:
            return name in ENDING_CALLS
    return False


def branches(node: ast.If | ast.Match) -> list[list[ast.stmt]]:
    """The ways through it, an empty one among them where nothing may be chosen."""
    if isinstance(node, ast.If):
        return [node.body, node.orelse]
    last = node.cases[-1]
    takes_the_rest = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    return [*(case.body for case in node.cases), *([] if takes_the_rest else [[]])]


def _headers(node: ast.With | ast.For | ast.While) -> list[ast.AST]:
    if isinstance(node, ast.With):
        return list(node.items)
    return [node.target] if isinstance(node, ast.For) else []


def read_before_written(facts: Facts, statements: Iterable[ast.AST]) -> list[str]:
    """Plain names whose earlier value the statements use, in order of use."""
    found: dict[str, None] = {}
    written: set[str] = set()
    for statement in statements:
        for name, is_write in _events(facts, statement):
            if is_write:
                written.add(name)
            elif name not in written:
                found[name] = None
    return list(found)


def _events(facts: Facts, node: ast.AST) -> Iterator[tuple[str, bool]]:
    """(name, is it written) in the order in which Python evaluates."""
    node = facts.as_read(node)
    if isinstance(node, ast.Name):
        yield node.id, isinstance(node.ctx, ast.Store)
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            yield node.target.id, False
        yield from _events(facts, node.value)
        yield from _events(facts, node.target)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
        if node.value is not None:
            yield from _events(facts, node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from _events(facts, target)
    elif isinstance(node, ast.For):
        for each in (node.iter, node.target, *node.body, *node.orelse):
            yield from _events(facts, each)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        inner = set(comprehension_names(node))
        yield from (
            (name, False) for child in walk(node) if isinstance(child, ast.Name) and (name := child.id) not in inner
        )
    elif isinstance(node, ast.Lambda):
        inner = {argument.arg for argument in node.args.args}
        yield from (
            (child.id, False) for child in walk(node.body) if isinstance(child, ast.Name) and child.id not in inner
        )
    else:
        for child in children_of(node):
            yield from _events(facts, child)


def _is_call_of(statement: ast.stmt, names: tuple[str, ...]) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name in names
    return False


def leaves_loop(node: ast.AST) -> bool:
    """Whether a `break` or `continue` stands in it whose loop does not."""
    match node:
        case ast.Break() | ast.Continue():
            return True
        case ast.expr() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return False
        case ast.For(orelse=inside) | ast.AsyncFor(orelse=inside) | ast.While(orelse=inside):
            return any(leaves_loop(each) for each in inside)
    return any(leaves_loop(each) for each in ast.iter_child_nodes(node))
