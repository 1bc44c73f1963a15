"""What a file asks for its parameters, and what it makes: `flow` of `Adam(flow.parameters())` is a network, whatever it is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....read.guesses import looks_like_class
from ...facts import Facts
from . import flow

# Methods of networks, optimizers and schedulers that no tensor has.
OF_OBJECTS = frozenset(
    "parameters named_parameters modules named_modules children train eval state_dict load_state_dict zero_grad step forward".split()
)


def gives_parameters(facts: Facts, node: ast.expr) -> bool:
    """Whether the function, or the file where there is none, asks it for its parameters; nothing else may be known of it."""
    if facts.reading.type(node).kind != "unknown" or not (name := flow.key(node)):
        return False
    asked = facts.derived(_asked).get(name)
    return asked is not None and _scope_of(facts, node) in asked


def _asked(facts: Facts) -> dict[str, set[ast.AST]]:
    """What is asked for its parameters, by its name: the functions in which that is done, with those around them, and the file."""
    found: dict[str, set[ast.AST]] = {}
    for node in facts.source.members.get("parameters", ()):
        if name := flow.key(node.value):
            scopes = found.setdefault(name, {facts.source.tree})
            scope = _scope_of(facts, node)
            while scope not in scopes:
                scopes.add(scope)
                scope = _scope_of(facts, scope)
    return found


def _scope_of(facts: Facts, node: ast.AST) -> ast.AST:
    """The function around, or the file where there is none."""
    return facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree


def is_object(facts: Facts, node: ast.expr) -> bool:
    """Whether what its methods train lies in it."""
    return facts.reading.type(node).kind == "instance" or gives_parameters(facts, node)


def makes_instance(facts: Facts, call: ast.Call) -> bool:
    """`Holder(net)`: what is made holds the network, and runs nothing. A wrong guess is a loss that can't be followed, which is said."""
    kind = facts.reading.type(call.func)
    if kind.kind != "ref":
        return False
    qual = facts.reading.symbols.origin(kind.qual)
    return qual in facts.reading.symbols.classes or looks_like_class(qual.rpartition(".")[2])


def is_network(facts: Facts, node: ast.expr) -> bool:
    kind = facts.reading.type(node)
    if kind.kind == "unknown":
        return isinstance(node, ast.Name) and any(word in node.id.lower() for word in ("model", "net"))
    return kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)


def is_used_as_object(facts: Facts, statement: ast.stmt, name: str) -> bool:
    """Whether the function around the statement calls the name, or asks it for its parameters: it is no tensor there."""
    scope, known = _scope_of(facts, statement), facts.derived(_known_objects)
    if (scope, name) not in known:
        known[scope, name] = any(_is_object_use(facts, use) for use in facts.source.named_within(name, scope))
    return known[scope, name]


def makes_object(facts: Facts, statement: ast.stmt) -> bool:
    """`model = build(3)`, `net, opt = setup()`, `net = state["net"]`: what is then called, or asked for its parameters, is no tensor."""
    known = facts.derived(_statements_that_make)
    if statement not in known:
        known[statement] = _makes_object(facts, statement)
    return known[statement]


def _statements_that_make(facts: Facts) -> dict[ast.stmt, bool]:
    """What was found out: each backward() of a function asks."""
    return {}


def _makes_object(facts: Facts, statement: ast.stmt) -> bool:
    made = _made(statement)
    return any(
        facts.reading.symbols.is_module(
            (kind := facts.reading.type(value)).qual
        )  # `Net().cuda()`, or another name of one
        or (not kind.is_tensor and _is_object_name(facts, statement, target, value, len(made)))
        for target, value in made
    )


def _made(statement: ast.stmt) -> list[tuple[ast.Name, ast.expr]]:
    """The names that a statement binds, each with what it is taken from."""
    match statement:
        case ast.Assign(targets=[target], value=value):
            return list(_bound_by(target, value))
    return []


def _bound_by(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    match target, value:
        case ast.Name(), _:
            yield target, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):  # `net, losses = build(), []`
            for each, one in zip(targets, values, strict=False):
                yield from _bound_by(each, one)
        case ast.Tuple(elts=targets), ast.Call() | ast.Subscript():
            yield from ((each, value) for each in targets if isinstance(each, ast.Name))


def _is_object_name(facts: Facts, statement: ast.stmt, target: ast.Name, value: ast.expr, count: int) -> bool:
    if isinstance(value, ast.Call) and count == 1:
        return is_used_as_object(facts, statement, target.id)
    return isinstance(value, ast.Call | ast.Subscript) and is_next_used_as_object(facts, target)


def is_next_used_as_object(facts: Facts, target: ast.Name) -> bool:
    """Likewise, by what reads this very value in the text: the same name may stand for a tensor elsewhere in the function."""
    start = facts.source.start
    named = sorted(facts.source.named_within(target.id, _scope_of(facts, target)), key=start)
    behind = [each for each in named if start(each) > start(target)]
    end = next((start(each) for each in behind if isinstance(each.ctx, ast.Store)), None)
    return any(_is_object_use(facts, each) for each in behind if end is None or start(each) < end)


def _known_objects(facts: Facts) -> dict[tuple[ast.AST, str], bool]:
    """What was found out, by function and name: each backward() of a function asks."""
    return {}


def _is_object_use(facts: Facts, name: ast.Name) -> bool:
    """It is called, or one of the methods that only objects have is."""
    around = facts.parents.get(name)
    if isinstance(around, ast.Attribute):
        call = facts.parents.get(around)
        return around.attr in OF_OBJECTS and isinstance(call, ast.Call) and call.func is around
    return isinstance(around, ast.Call) and around.func is name
