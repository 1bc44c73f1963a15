"""`nn.ReLU(inplace=True)` whose input is read again: `x + self.block(x)` sees what the block's first layer made of x.

Elsewhere `inplace` only saves memory, and goes.
"""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterator, Set

from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore
from . import make_leaf_parameters

IN_PLACE = "inplace"


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions("nn"):
        return
    layers = facts.derived(_in_place_layers)
    if not layers:
        return
    networks = [
        owner
        for owner in facts.source.of(ast.ClassDef)
        if facts.reading.symbols.is_module(facts.reading.owners.get(owner, ""))
    ]
    is_walked = any(_walks_layers(owner) for owner in networks)  # whichever function of the file makes the layers
    found = dict.fromkeys(
        layers
        if is_walked
        else [*(each for owner in networks for each in _of_class(facts, owner)), *_of_scripts(facts, frozenset(layers))]
    )
    for layer in found:
        given = _given_in_place(facts, layer)
        yield InsertBefore(layer, lambda texts: f"{texts.name('compat.in_place')}(")
        yield InsertAfter(layer, ")" if isinstance(given, ast.Constant) else f", {ast.unparse(given)})")


def _in_place_layers(facts: Facts) -> list[ast.Call]:
    return [call for call in facts.calls_for(Use.NETWORK_PART) if _is_in_place(facts, call)]


def _layers_by_class(facts: Facts) -> dict[ast.AST, set[ast.Call]]:
    """Also those of a class inside it."""
    found: dict[ast.AST, set[ast.Call]] = {}
    for layer in facts.derived(_in_place_layers):
        owner = facts.enclosing(layer, ast.ClassDef)
        while owner is not None:
            found.setdefault(owner, set()).add(layer)
            owner = facts.enclosing(owner, ast.ClassDef)
    return found


def _loose_layers(facts: Facts) -> dict[ast.AST | None, list[ast.Call]]:
    """By function, those that are a variable or an item of a list, not a part of another call."""
    found: dict[ast.AST | None, list[ast.Call]] = {}
    for layer in facts.derived(_in_place_layers):
        if isinstance(facts.parents[layer], ast.Assign | ast.List | ast.IfExp):
            found.setdefault(facts.enclosing(layer, ast.FunctionDef), []).append(layer)
    return found


def _of_class(facts: Facts, owner: ast.ClassDef) -> Iterator[ast.Call]:
    own = facts.derived(_layers_by_class).get(owner, set())
    methods = [each for each in owner.body if isinstance(each, ast.FunctionDef)]
    shared = {name for method in methods for name in _reread(facts, method)} if own else set()
    for method in methods:
        if method.name in shared:  # `y = self.act(x) + x`: what act() does first, it does to x
            shared |= set(_applied_first(method))
    for node in walk(owner):
        if isinstance(node, ast.Assign) and any(_own_name(target) in shared for target in node.targets):
            yield from _first_layers(facts, node.value, own)


def _of_scripts(facts: Facts, layers: Set[ast.Call]) -> Iterator[ast.Call]:
    """Layers that functions and the file itself hold in variables: `act = nn.ReLU(inplace=True)`, `act(x)`, and x is read again."""
    concerned = _scopes_of_calls(facts, layers)
    for scope in (facts.source.tree, *facts.source.of(ast.FunctionDef)):
        if scope not in concerned:
            continue
        names = _Names(facts, make_leaf_parameters.own_nodes(scope))
        for called in _called_with_reread(facts, names):
            match called:
                case ast.Call() if called in layers:
                    yield called
                case ast.Name(id=name):
                    given = _given(facts, scope, name) if isinstance(scope, ast.FunctionDef) else []
                    for value in given or _assigned(facts, name):
                        yield from _first_layers(facts, value, layers)


def _scopes_of_calls(facts: Facts, layers: Set[ast.Call]) -> set[ast.AST]:
    """The functions, or the file, around calls of variables and of layers as they are made: `act(x)`, `nn.ReLU(True)(x)`."""
    found: set[ast.AST] = {facts.source.tree}
    for call in facts.source.of(ast.Call):
        if len(call.args) == 1 and (isinstance(call.func, ast.Name) or call.func in layers):
            scope = facts.enclosing(call, ast.FunctionDef)
            while scope is not None and scope not in found:
                found.add(scope)
                scope = facts.enclosing(scope, ast.FunctionDef)
    return found


def _assigned(facts: Facts, name: str) -> list[ast.expr]:
    stored = [facts.parents.get(each) for each in facts.stores(name)]
    return [each.value for each in stored if isinstance(each, ast.Assign)]


def _given(facts: Facts, function: ast.FunctionDef, name: str) -> list[ast.expr]:
    """What the calls of a function of this file give for an argument; a variable stands for what is assigned to it."""
    arguments = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if name not in arguments:
        return []
    position = arguments.index(name)
    found = [
        call.args[position]
        for called in facts.source.named.get(function.name, ())
        if isinstance(call := facts.parents[called], ast.Call) and call.func is called and position < len(call.args)
    ]
    return [value for each in found for value in (_assigned(facts, each.id) if isinstance(each, ast.Name) else [each])]


def _applied_first(method: ast.FunctionDef) -> Iterator[str]:
    """The attributes that a method calls with its argument as it came."""
    arguments = {each.arg for each in method.args.args[1:2]}
    for node in walk(method):
        match node:
            case ast.Call(func=function, args=[ast.Name(id=given)]) if given in arguments and _own_name(function):
                yield _own_name(function)


def _walks_layers(owner: ast.ClassDef) -> bool:
    """Whether a loop runs through layers, one after the other, and keeps what they give."""
    for loop in walk(owner):
        if isinstance(loop, ast.For) and any(_keeps(node) for each in loop.body for node in walk(each)):
            layers = {each.id for each in walk(loop.target) if isinstance(each, ast.Name)}
            if any(_runs(node, layers) for node in walk(loop)):
                return True
    return False


def _runs(node: ast.AST, layers: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=layer), args=[ast.Name(), *_]):
            return layer in layers
    return False


def _keeps(node: ast.AST) -> bool:
    """`kept.append(x)`, `kept[name] = x`, `yield x`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Name()]):
            return True
        case ast.Assign(targets=[ast.Subscript()], value=ast.Name()):
            return True
    return isinstance(node, ast.Yield)


def _is_in_place(facts: Facts, call: ast.Call) -> bool:
    match _given_in_place(facts, call):
        case ast.Constant(value=value):
            return value is True
        case ast.Name() | ast.Attribute(value=ast.Name()):  # `inplace = True` above, or an argument: asked at run time
            return True
    return False


def _given_in_place(facts: Facts, call: ast.Call) -> ast.expr:
    """What the layer is given for `inplace`."""
    entry = facts.rules.get(facts.api(call.func))
    if entry is None or IN_PLACE not in entry.args or facts.is_use(Use.FUNCTIONAL, call.func):
        return ast.Constant(False)
    position = entry.args.index(IN_PLACE)
    given = [each.value for each in call.keywords if each.arg == IN_PLACE] or call.args[position : position + 1]
    return given[0] if given else ast.Constant(False)


def _is_sequence(facts: Facts, call: ast.Call) -> bool:
    """`nn.Sequential(...)`, or the OrderedDict that it is given."""
    api = facts.api(call.func)
    return api.endswith(".OrderedDict") or facts.uses.has(Use.NETWORK_LIST, api)


def _own_name(node: ast.AST) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""


def _first_layers(facts: Facts, value: ast.expr, layers: Set[ast.Call]) -> Iterator[ast.Call]:
    """The layers that may be the first to get the input; all of a method's where a list is put together."""
    match value:
        case ast.Call() if value in layers:
            yield value
        case ast.Call(args=[ast.List(elts=[ast.Tuple(elts=[_, part]), *_]), *_]) if _is_sequence(facts, value):
            yield from _first_layers(facts, part, layers)
        case ast.Call(args=[ast.Call() as part, *_]) if _is_sequence(facts, value):
            yield from _first_layers(facts, part, layers)
        case ast.Call(args=[_, *_]) if _is_sequence(facts, value):
            method = facts.enclosing(value, ast.FunctionDef)
            yield from (each for each in facts.derived(_loose_layers).get(method, ()) if each in layers)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _first_layers(facts, body, layers)
            yield from _first_layers(facts, orelse, layers)


class _Names:
    """The names of a method or another scope in the order in which they stand, and what copies or lists them."""

    def __init__(self, facts: Facts, nodes: list[ast.AST]) -> None:
        self._facts, self.nodes = facts, nodes
        self._names: dict[str, list[ast.Name]] = {}
        for each in sorted((each for each in self.nodes if isinstance(each, ast.Name)), key=facts.source.start):
            self._names.setdefault(each.id, []).append(each)
        self._starts = {name: [facts.source.start(each) for each in found] for name, found in self._names.items()}
        self.copies: dict[str, list[tuple[ast.AST, str]]] = {}  # `identity = x`, by both names, with the other
        self.listed: dict[str, list[ast.AST]] = {}  # `skips.append(x)`
        for node in self.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=new)], value=ast.Name(id=old)):
                    self.copies.setdefault(new, []).append((node, old))
                    if old != new:
                        self.copies.setdefault(old, []).append((node, new))
                case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Name(id=kept)]):
                    self.listed.setdefault(kept, []).append(node)

    def between(self, name: str, start: int, end: int) -> list[ast.Name]:
        """Where the name stands from one offset to another."""
        starts = self._starts.get(name, [])
        return self._names.get(name, [])[bisect.bisect_left(starts, start) : bisect.bisect_right(starts, end)]

    def first_after(self, name: str, offset: int) -> ast.Name | None:
        place = bisect.bisect_right(self._starts.get(name, []), offset)
        return self._names[name][place] if place < len(self._starts.get(name, [])) else None


def _reread(facts: Facts, method: ast.FunctionDef) -> Iterator[str]:
    """The attributes that are called with a variable whose tensor is read again."""
    for called in _called_with_reread(facts, _Names(facts, walk(method))):
        if name := _own_name(called):
            yield name


def _called_with_reread(facts: Facts, names: _Names) -> Iterator[ast.expr]:
    """What is called with a variable whose tensor is read again behind the call, or by its other operand."""
    for call in names.nodes:
        match call:
            case ast.Call(func=called, args=[ast.Name(id=given) as argument], keywords=[]):
                statement = facts.statement_of(call)
                is_kept = any(
                    _is_read(facts, each, argument, statement, names)
                    for each in {given, *_aliases(facts, argument, names)}
                )
                if is_kept or _is_listed(facts, argument, names):
                    yield called


def _aliases(facts: Facts, argument: ast.Name, names: _Names) -> Iterator[str]:
    """`identity = x` above, and x is still the same tensor."""
    for node, other in names.copies.get(argument.id, ()):
        if _is_unchanged(facts, node, argument, names):
            yield other


def _is_unchanged(facts: Facts, node: ast.AST, argument: ast.Name, names: _Names) -> bool:
    """Whether the argument has not been bound again from the node, which stands above, to its call."""
    source = facts.source
    start, end = source.end(node), source.start(facts.statement_of(argument))
    return start <= end and not any(
        isinstance(each.ctx, ast.Store) for each in names.between(argument.id, start + 1, end - 1)
    )


def _is_read(facts: Facts, name: str, argument: ast.Name, statement: ast.stmt, names: _Names) -> bool:
    source = facts.source
    here = names.between(name, source.start(statement), source.end(statement))
    inside = [each for each in here if facts.is_within(each, statement)]
    if any(isinstance(each.ctx, ast.Load) and each is not argument for each in inside):
        return True
    if any(isinstance(each.ctx, ast.Store) for each in inside):
        return False
    first = names.first_after(name, source.end(statement))
    if first is None:
        return False
    later = facts.statement_of(first)
    # `x = f(x)`: the reading on the right comes first, though it stands behind.
    return any(
        isinstance(each.ctx, ast.Load)
        for each in names.between(name, source.start(first), source.end(later))
        if facts.statement_of(each) is later
    )


def _is_listed(facts: Facts, argument: ast.Name, names: _Names) -> bool:
    """`skips.append(x)` above, and x is still the same tensor."""
    return any(_is_unchanged(facts, node, argument, names) for node in names.listed.get(argument.id, ()))
