"""`nn.ReLU(inplace=True)` whose input is read again: `x + self.block(x)` sees what the block's first layer made of x.

Elsewhere `inplace` only saves memory, and goes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore

IN_PLACE = "inplace"


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions("nn"):
        return
    layers = [node for node in facts.source.of(ast.Call) if _is_in_place(facts, node)]
    if not layers:
        return
    networks = [
        owner
        for owner in facts.source.of(ast.ClassDef)
        if facts.reading.symbols.is_module(facts.reading.owners.get(owner, ""))
    ]
    is_walked = any(_walks_layers(owner) for owner in networks)  # whichever function of the file makes the layers
    found = dict.fromkeys(
        layers if is_walked else [each for owner in networks for each in _of_class(facts, owner, layers)]
    )
    for layer in found:
        yield InsertBefore(layer, lambda texts: f"{texts.name('compat.in_place')}(")
        yield InsertAfter(layer, ")")


def _of_class(facts: Facts, owner: ast.ClassDef, layers: list[ast.Call]) -> Iterator[ast.Call]:
    own = [each for each in layers if facts.is_within(each, owner)]
    methods = [each for each in owner.body if isinstance(each, ast.FunctionDef)]
    shared = {name for method in methods for name in _reread(facts, method)} if own else set()
    for method in methods:
        if method.name in shared:  # `y = self.act(x) + x`: what act() does first, it does to x
            shared |= set(_applied_first(method))
    for node in ast.walk(owner):
        if isinstance(node, ast.Assign) and any(_own_name(target) in shared for target in node.targets):
            yield from _first_layers(facts, node.value, own)


def _applied_first(method: ast.FunctionDef) -> Iterator[str]:
    """The attributes that a method calls with its argument as it came."""
    arguments = {each.arg for each in method.args.args[1:2]}
    for node in ast.walk(method):
        match node:
            case ast.Call(func=function, args=[ast.Name(id=given)]) if given in arguments and _own_name(function):
                yield _own_name(function)


def _walks_layers(owner: ast.ClassDef) -> bool:
    """Whether a loop runs through layers, one after the other, and keeps what they give."""
    for loop in ast.walk(owner):
        if isinstance(loop, ast.For) and any(_keeps(node) for each in loop.body for node in ast.walk(each)):
            layers = {each.id for each in ast.walk(loop.target) if isinstance(each, ast.Name)}
            if any(_runs(node, layers) for node in ast.walk(loop)):
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
    entry = facts.rules.get(facts.api(call.func)) if facts.is_use(Use.NETWORK_PART, call.func) else None
    if entry is None or IN_PLACE not in entry.args or facts.is_use(Use.FUNCTIONAL, call.func):
        return False
    position = entry.args.index(IN_PLACE)
    given = [each.value for each in call.keywords if each.arg == IN_PLACE] or call.args[position : position + 1]
    return any(isinstance(each, ast.Constant) and each.value is True for each in given)


def _is_sequence(facts: Facts, call: ast.Call) -> bool:
    """`nn.Sequential(...)`, or the OrderedDict that it is given."""
    api = facts.api(call.func)
    return api.endswith(".OrderedDict") or facts.uses.has(Use.NETWORK_LIST, api)


def _own_name(node: ast.AST) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""


def _first_layers(facts: Facts, value: ast.expr, layers: list[ast.Call]) -> Iterator[ast.Call]:
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
            yield from (
                each for each in layers if facts.enclosing(each, ast.FunctionDef) is method and _is_loose(facts, each)
            )
        case ast.IfExp(body=body, orelse=orelse):
            yield from _first_layers(facts, body, layers)
            yield from _first_layers(facts, orelse, layers)


def _is_loose(facts: Facts, layer: ast.Call) -> bool:
    """A variable or an item of a list, not a part of another call."""
    return isinstance(facts.parents[layer], ast.Assign | ast.List | ast.IfExp)


def _reread(facts: Facts, method: ast.FunctionDef) -> Iterator[str]:
    """The attributes that are called with a variable whose tensor is read again behind the call, or by its other operand."""
    names = sorted((each for each in ast.walk(method) if isinstance(each, ast.Name)), key=facts.source.start)
    for call in ast.walk(method):
        match call:
            case ast.Call(func=function, args=[ast.Name(id=given) as argument]) if name := _own_name(function):
                statement = facts.statement_of(call)
                is_kept = any(
                    _is_read(facts, each, argument, statement, names)
                    for each in {given, *_aliases(facts, method, argument, names)}
                )
                if is_kept or _is_listed(facts, method, argument, names):
                    yield name


def _aliases(facts: Facts, method: ast.FunctionDef, argument: ast.Name, names: list[ast.Name]) -> Iterator[str]:
    """`identity = x` above, and x is still the same tensor."""
    for node in ast.walk(method):
        match node:
            case ast.Assign(targets=[ast.Name(id=new)], value=ast.Name(id=old)) if argument.id in (new, old):
                if _is_unchanged(facts, node, argument, names):
                    yield old if argument.id == new else new


def _is_unchanged(facts: Facts, node: ast.AST, argument: ast.Name, names: list[ast.Name]) -> bool:
    """Whether the argument has not been bound again from the node, which stands above, to its call."""
    source = facts.source
    start, end = source.end(node), source.start(facts.statement_of(argument))
    bound = [each for each in names if each.id == argument.id and isinstance(each.ctx, ast.Store)]
    return start <= end and not any(start < source.start(each) < end for each in bound)


def _is_read(facts: Facts, name: str, argument: ast.Name, statement: ast.stmt, names: list[ast.Name]) -> bool:
    source = facts.source
    inside = [each for each in names if each.id == name and facts.is_within(each, statement)]
    if any(isinstance(each.ctx, ast.Load) and each is not argument for each in inside):
        return True
    if any(isinstance(each.ctx, ast.Store) for each in inside):
        return False
    later = [each for each in names if each.id == name and source.start(each) > source.end(statement)]
    # `x = f(x)`: the reading on the right comes first, though it stands behind.
    return bool(later) and any(
        isinstance(each.ctx, ast.Load) for each in later if facts.statement_of(each) is facts.statement_of(later[0])
    )


def _is_listed(facts: Facts, method: ast.FunctionDef, argument: ast.Name, names: list[ast.Name]) -> bool:
    """`skips.append(x)` above, and x is still the same tensor."""
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Name(id=kept)]) if kept == argument.id:
                if _is_unchanged(facts, node, argument, names):
                    return True
    return False
