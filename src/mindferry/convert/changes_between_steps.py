"""What the code of a project changes when it runs, by function: a compiled step goes on with what it saw when it was compiled.

Functions are told apart by their last name alone, in all files: what a loop may reach is more than it does reach, so a step is
rather left uncompiled than compiled wrongly.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from ..apis import framework
from ..read.source import Source, Unreadable
from ..read.uses import Use
from ..read.walk import walk_again as walk
from .code_words import Text
from .repeated_calls import first_repeated
from .steady_names import Names, is_handed, looked_into, names_of, pads, unsteady_read

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RUN_UNNAMED = frozenset({"__call__", "__enter__", "__exit__", "__iter__", "__next__", "__setattr__"})
PARTS_OF_NETWORKS = frozenset(
    "parameters named_parameters buffers named_buffers state_dict modules named_modules children named_children".split()
)
VALUES = frozenset({"data", "detach"})  # by which a parameter is written to
FREEZES = frozenset({"requires_grad", "requires_grad_"})
MODES = frozenset({"train", "eval"})
DRAWING = frozenset({"random", "numpy.random", "time", "secrets"})
WHOLE = "<file>"
LAMBDA = "<lambda>"
GROWS = frozenset(
    "append extend update insert pop clear setdefault add remove reverse sort popitem popleft appendleft extendleft rotate discard "
    "move_to_end difference_update intersection_update symmetric_difference_update subtract fill itemset put".split()
)
# Functions that change what they are given first.
CHANGES_FIRST = frozenset(
    "shuffle heappush heappop heapify heapreplace heappushpop copyto place putmask fill_diagonal insort insort_left insort_right".split()
)
TAKES_OUT = frozenset({"numpy", "tolist", "__array__"})
BY_NAME = frozenset(
    "__dict__ _modules _parameters _buffers vars globals locals".split()
)  # through which anything is set
CASTS = frozenset("half double bfloat16 float type".split())  # of a network, where nobody takes what they return
LAYER_SETTINGS = frozenset(
    "momentum eps p inplace negative_slope track_running_stats training stride padding dilation groups scale_factor".split()
)
GROUP_SETTINGS = frozenset(
    "momentum betas weight_decay eps nesterov dampening amsgrad alpha rho centered maximize lr_decay lambd etas step_sizes".split()
)


@dataclass(frozen=True, slots=True)
class Changes:
    """Of one function, or of one part of it."""

    name: str
    mentions: frozenset[str]  # names and members, whatever is done with them
    reads: frozenset[str]  # of these, members and names that it does not bind itself
    sets: frozenset[str]  # members, what they are members of, and names of the module
    drawn: str = ""  # where it draws numbers, or asks for the time, without the framework
    replaced: str = ""  # where it gives parameters other values, or layers other settings
    frozen: str = ""  # where it takes gradients from what may be parameters
    thawed: str = ""  # where it gives them, perhaps to data
    mode: str = ""  # where it leaves a network in a mode that may not be that of training
    kept: str = ""  # where it sets or grows something that outlives it
    tuned: str = ""  # where it changes more of an optimizer than its rate
    taken: str = ""  # where it takes values out of the framework
    padded: str = ""  # where it pads with numbers
    again: str = ""  # where it calls something a second time with the same input
    written: frozenset[str] = frozenset()  # what has other contents afterwards, and what it is a part of
    unsteady: str = ""  # what it reads that may be another thing the next time
    borrowed: frozenset[str] = frozenset()  # names of other files that it reads
    entries: frozenset[str] = frozenset()  # members with which it does more than compute
    altered: str = ""  # where it changes what it is given
    names: Names | None = None  # of a file

    def __repr__(self) -> str:
        """The same in every process: conversions are compared by it."""
        words = (
            sorted(self.mentions),
            sorted(self.reads),
            sorted(self.sets),
            sorted(self.borrowed),
            sorted(self.entries),
            sorted(self.written),
        )
        reads = (self.unsteady, self.altered, self.names, self.padded, self.again)
        return f"{self.name}{words}{reads}{self.drawn}{self.replaced}{self.frozen}{self.thawed}{self.mode}{self.kept}{self.tuned}{self.taken}"


def changes_of_project(texts: Iterable[Text]) -> tuple[Changes, ...]:
    found: list[Changes] = []
    for _, parsed in texts:
        try:
            found += changes_of_file(parsed())
        except (OSError, Unreadable):
            continue  # it is not converted either
    return tuple(found)


def changes_of_file(source: Source) -> list[Changes]:
    """By function, and of the file as a whole, which goes by no function's name."""
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [
        *source.of(ast.FunctionDef),
        *source.of(ast.AsyncFunctionDef),
    ]
    named: list[tuple[str, ast.AST]] = [(each.name, each) for each in functions if each.name != "__init__"]
    named += [(LAMBDA, each) for each in source.of(ast.Lambda) if is_handed(source, each)]
    names = names_of(source)
    return [
        replace(changes_of(source, (source.tree,), WHOLE), names=names),
        *(_with_reads(changes_of(source, (each,), name), source, each, names) for name, each in named),
    ]


def _with_reads(changes: Changes, source: Source, function: ast.AST, names: Names) -> Changes:
    unsteady, borrowed = unsteady_read(source, function, names)
    altered = next((place_of(source, each) for each in _altered(function)), "")
    entries = looked_into(source, (function,))
    return replace(changes, unsteady=unsteady, borrowed=borrowed, entries=entries, altered=altered)


def _altered(function: ast.AST) -> Iterator[ast.AST]:
    """Where it writes to entries of what it is given, or of what a loop goes through."""
    given = {node.arg for node in walk(function) if isinstance(node, ast.arg)} - {"self", "cls"}
    made = {last_name(each) for node in walk(function) if isinstance(node, ast.Assign) for each in node.targets} - given
    loops = [node for node in walk(function) if isinstance(node, ast.For) and not _is_of_optimizer(node.iter)]
    loops = [node for node in loops if not isinstance(node.iter, ast.Name) or node.iter.id not in made]
    given |= {each.id for node in loops for each in walk(node.target) if isinstance(each, ast.Name)}
    for node in walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in given:
                yield node
            case ast.AugAssign(target=ast.Name(id=name)) if name in given:
                yield node
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name in given:
                if method in GROWS - {"update", "add", "put"} or _is_in_place(method):
                    yield node


def _is_of_optimizer(written: ast.AST) -> bool:
    return "param_groups" in {last_name(node) for node in walk(written)}


def changes_of(source: Source, roots: Sequence[ast.AST], name: str = "") -> Changes:
    nodes = [node for root in roots for node in walk(root)]
    outside = {word for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for word in node.names}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    modes = [node for node in nodes if is_mode(node)]
    last = max(modes, key=lambda node: (node.lineno, node.col_offset), default=None)

    written = frozenset(_written_into(nodes))

    def first(found: Iterable[ast.AST]) -> str:
        return next((place_of(source, node) for node in found), "")

    return Changes(
        name,
        frozenset(word for node in nodes if (word := last_name(node)) and not _is_plain_mode(source, node)),
        frozenset(_reads(source, nodes, bound - outside)),
        frozenset(_with_aliases(source, (*_sets(nodes, outside), *written))),
        first(node for node in nodes if _is_drawn(source, node)),
        first(node for node in nodes if _is_replaced(source, node)),
        first(node for node in nodes if _gives_gradients(source, node) is False),
        first(node for node in nodes if _gives_gradients(source, node)),
        first([last] if last is not None and not trains(last) else []),
        first(node for node in nodes if _is_kept(node, bound - outside)),
        first(node for node in nodes if _is_tuned(source, node)),
        first(node for node in nodes if isinstance(node, ast.Attribute) and node.attr in TAKES_OUT),
        padded=first(node for node in nodes if pads(node)),
        again=first([repeated] if (repeated := first_repeated(roots)) is not None else []),
        written=frozenset(_with_aliases(source, written)),
    )


def reached(start: Changes, project: Iterable[Changes]) -> list[Changes]:
    """What a part of the code changes, with all functions that it may call."""
    by_name: dict[str, list[Changes]] = {}
    for each in project:
        by_name.setdefault(each.name, []).append(each)
    found, seen = [start], frozenset[str]()
    waiting = (start.mentions | RUN_UNNAMED) & by_name.keys()
    while waiting := waiting - seen:
        seen |= waiting
        more = [each for name in sorted(waiting) for each in by_name[name]]
        found += more
        waiting = frozenset(word for each in more for word in each.mentions) & by_name.keys()
    return found


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def place_of(source: Source, node: ast.AST) -> str:
    return f"{source.path}:{getattr(node, 'lineno', 1)}"


def is_mode(node: ast.AST) -> TypeGuard[ast.Call]:
    """`net.train()`, `net.eval()` or `net.train(mode)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MODES


def trains(call: ast.AST) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="train"), args=[] | [ast.Constant(value=True)], keywords=[]):
            return True
    return False


def _is_plain_mode(source: Source, node: ast.AST) -> bool:
    """A network's own method, and not a function of the project's that has its name."""
    parent = source.parents.get(node)
    return isinstance(node, ast.Attribute) and node.attr in MODES and isinstance(parent, ast.Call) and not parent.args


def _reads(source: Source, nodes: Iterable[ast.AST], bound: set[str]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            parent = source.parents.get(node)
            is_method = isinstance(parent, ast.Call) and parent.func is node and last_name(node.value) != "self"
            if not is_method:
                yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound:
            yield node.id


def _sets(nodes: Iterable[ast.AST], outside: set[str]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Attribute(attr=name, value=owner, ctx=ast.Store() | ast.Del()):
                yield from (name, last_name(owner))
            case ast.Name(id=name, ctx=ast.Store()) if name in outside:
                yield name
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, named, *_]):
                yield from (last_name(owner), str(named.value) if isinstance(named, ast.Constant) else "")


def _written_into(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What has other contents afterwards, under the same name."""
    for node in nodes:
        match node:
            case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
                yield from _chain(owner)
            case ast.Call(func=ast.Attribute(value=ast.Attribute() | ast.Name() as owner, attr=method)):
                if method in GROWS or _is_in_place(method):
                    yield from _chain(owner)
        if isinstance(node, ast.Call) and last_name(node.func) in CHANGES_FIRST and node.args:
            yield from _chain(node.args[0])


def _chain(owner: ast.AST) -> Iterator[str]:
    """`cfg` and `weights` of `cfg.weights["a"]`, which is a part of both."""
    while not isinstance(owner, ast.Name):
        match owner:
            case ast.Attribute(attr=name, value=inner):
                yield name
                owner = inner
            case ast.Subscript(value=inner) | ast.NamedExpr(value=inner):
                owner = inner
            case _:
                return
    yield owner.id


def _with_aliases(source: Source, names: Iterable[str]) -> set[str]:
    """With what the names stand for in the file: `gates = net.gates; gates[0] = 1`."""
    found, waiting = set[str](), set(names)
    if not waiting:
        return found
    known: dict[str, set[str]] = {}
    for node in source.of(ast.Assign):
        if isinstance(node.value, ast.Attribute | ast.Name | ast.Subscript):
            for each in node.targets:
                known.setdefault(last_name(each), set()).add(next(_chain(node.value), ""))
    while waiting:
        found |= waiting
        waiting = {word for name in waiting for word in known.get(name, ())} - found
    return found


def _is_kept(node: ast.AST, bound: set[str]) -> bool:
    match node:
        case ast.Attribute(ctx=ast.Store()):
            return True
        case ast.Subscript(value=ast.Attribute() | ast.Name() as owner, ctx=ast.Store()):
            return isinstance(owner, ast.Attribute) or owner.id not in bound
        case ast.Call(func=ast.Attribute(value=ast.Attribute() | ast.Name() as owner, attr=method)) if method in GROWS:
            return isinstance(owner, ast.Attribute) or owner.id not in bound
        case ast.Global() | ast.Nonlocal():
            return True
    return False


def _is_tuned(source: Source, node: ast.AST) -> bool:
    """Whether an optimizer has another momentum afterwards, or another setting of its groups than the rate."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str() as key), ctx=ast.Store()):
            return key in GROUP_SETTINGS
        case ast.Subscript(value=owner, ctx=ast.Store()):
            return _is_group(source, owner)
        case ast.Call(func=ast.Attribute(value=owner, attr="update")):
            return _is_group(source, owner)
        case ast.Attribute(attr="state", value=owner) if "opt" in last_name(owner).lower():
            return isinstance(node.ctx, ast.Store) or _is_emptied(source, node)
    return False


def _is_emptied(source: Source, state: ast.Attribute) -> bool:
    """`opt.state.clear()`, `opt.state[p] = {}`, `opt.state[p].pop("step")`: what is only read stays."""
    node: ast.AST = state
    while isinstance(parent := source.parents.get(node), ast.Subscript) and parent.value is node:
        if not isinstance(parent.ctx, ast.Load):
            return True
        node = parent
    return isinstance(parent, ast.Attribute) and parent.attr in GROWS


def _is_group(source: Source, owner: ast.AST) -> bool:
    """`optimizer.param_groups[0]`, or what a loop over them binds."""
    if "param_groups" in {last_name(node) for node in walk(owner)}:
        return isinstance(owner, ast.Subscript)
    names = {node.id for node in walk(owner) if isinstance(node, ast.Name)}
    return any(
        isinstance(node, ast.For)
        and names & {last_name(each) for each in walk(node.target)}
        and "param_groups" in {last_name(each) for each in walk(node.iter)}
        for node in _around(source, owner)
    )


def _is_drawn(source: Source, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="next")):
            return True
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="random"):
            return True
        case ast.Name(id=name, ctx=ast.Load()):
            return name in _drawing_names(source)
    return False


def _drawing_names(source: Source) -> set[str]:
    """What the file calls modules that draw numbers or tell the time, and what it takes from them."""
    found = set()
    for node in source.of(ast.Import):
        found |= {each.asname or each.name for each in node.names if each.name in DRAWING}
    for taken in source.of(ast.ImportFrom):
        if taken.module in DRAWING:
            found |= {each.asname or each.name for each in taken.names}
    return found


def _gives_gradients(source: Source, node: ast.AST) -> bool | None:
    """`x.requires_grad_()` or `x.requires_grad = True`; False where it takes them, or may; None where it is about something else."""
    if not isinstance(node, ast.Attribute) or node.attr not in FREEZES:
        return None
    match source.parents.get(node):
        case ast.Call(func=called, args=[] | [ast.Constant(value=True)], keywords=[]) if called is node:
            return True
        case ast.Assign(value=ast.Constant(value=True)) if isinstance(node.ctx, ast.Store):
            return True
        case ast.Call(func=called) if called is node:
            return False
    return False if isinstance(node.ctx, ast.Store) else None


def _is_replaced(source: Source, node: ast.AST) -> bool:
    """Whether parameters have other values after it, in other memory, or layers other settings."""
    uses = framework().uses
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()) if name in FREEZES:
            return False
        case ast.Attribute(attr=name, ctx=ast.Store(), value=owner):
            is_values = (name == "data" or name in LAYER_SETTINGS) and last_name(owner) != "self"
            return is_values or (isinstance(owner, ast.Name) and _is_part(source, owner))
        case ast.Attribute() | ast.Name() if uses.has(Use.GIVES_VALUES, _imported_name(source, node)):
            return True
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, named, *_]):
            return last_name(owner) != "self" or not isinstance(named, ast.Constant)
        case ast.Call(func=ast.Name(id="exec") | ast.Attribute(attr="__setattr__")):
            return True
        case ast.Call(func=ast.Attribute(attr=name), args=[]) if name in CASTS:
            return isinstance(source.parents.get(node), ast.Expr)
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in GROWS and _is_by_name(owner):
            return True
        case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner) if _is_by_name(owner):
            return True
        case ast.AugAssign(target=ast.Name() as target):
            return _is_part(source, target)
        case ast.AugAssign(target=ast.Attribute() as target):
            return last_name(target.value) != "self" and _is_of_parameters(source, target)
        case ast.Subscript(ctx=ast.Store(), value=ast.Attribute() as owner):
            return _is_of_parameters(source, owner)
        case ast.Call(func=ast.Name() as function):
            return _is_in_place(_imported_name(source, function))  # initializers
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if _is_in_place(name):
            return last_name(owner) == "init" or _is_of_parameters(source, owner) or _is_member(owner)
    return False


def _imported_name(source: Source, node: ast.Attribute | ast.Name) -> str:
    """`ones_` of what `from torch.nn.init import ones_ as fill` calls fill."""
    if isinstance(node, ast.Attribute):
        return node.attr
    aliases = (alias for statement in source.of(ast.ImportFrom) for alias in statement.names)
    return next((alias.name for alias in aliases if alias.asname == node.id), node.id)


def _is_by_name(owner: ast.AST) -> bool:
    """`net.__dict__` or `vars(net)`."""
    return last_name(owner.func if isinstance(owner, ast.Call) else owner) in BY_NAME


def _is_member(written: ast.AST) -> bool:
    """`net.norm.running_mean`, but no gradient: what is written to in place may be a buffer of a network's."""
    chain = [last_name(node) for node in walk(written)]
    return isinstance(written, ast.Attribute) and "grad" not in chain


def _is_in_place(name: str) -> bool:
    is_marked = name.endswith("_") and not name.endswith("__") and len(name) > 2
    return is_marked and name not in FREEZES and not framework().uses.has(Use.LEAVES_VALUES, name)


def _is_of_parameters(source: Source, written: ast.AST) -> bool:
    """Written to by way of its values, or without gradients, or in a loop over the parts of a network. Gradients are none of them."""
    chain = {last_name(node) for node in walk(written)}
    if "grad" in chain:
        return False
    if chain & VALUES or _is_part(source, written):
        return True
    return any(
        framework().uses.has(Use.STOPS_GRADIENTS, last_name(part))
        for node in _around(source, written)
        for each in _conditions(node)
        for part in walk(each)
    )


def _conditions(node: ast.AST) -> list[ast.expr]:
    """What a block runs under."""
    if isinstance(node, ast.With):
        return [item.context_expr for item in node.items]
    return list(node.decorator_list) if isinstance(node, FUNCTIONS) else []


def _is_part(source: Source, written: ast.AST) -> bool:
    """A name that a loop binds to the parts of a network."""
    names = {node.id for node in walk(written) if isinstance(node, ast.Name)}
    for node in _around(source, written):
        if isinstance(node, ast.For) and names & {last_name(each) for each in walk(node.target)}:
            return bool({last_name(each) for each in walk(node.iter)} & PARTS_OF_NETWORKS)
    return False


def _around(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    while (parent := source.parents.get(node)) is not None:
        yield parent
        node = parent
