"""Where gradients come from: networks that are called, their parameters, and tensors of the user's own that require one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ....read.framework import Role
from ....read.guesses import looks_like_loss
from ....read.networks import is_named_like_network
from ....read.walk import children_of
from ....read.walk import walk_again as walk
from ...facts import Facts
from .. import hold_leaf_parameters, make_leaf_parameters
from . import flow
from .asked_parameters import (
    gives_parameters,
    is_network,
    is_object,
    makes_instance,
    makes_object,
)
from .plain_callables import makes_no_gradient

MAKERS = frozenset(
    "zeros ones empty full zeros_like ones_like empty_like full_like new_zeros new_ones new_empty new_full".split()
)
RUNNING = {"builtins.map", "builtins.filter"}  # what they are given; zip(nets, heads) runs none


def differentiable(facts: Facts, chosen: list[ast.stmt]) -> list[ast.stmt]:
    """Those of them that run a network or read a parameter, or work on what such a statement wrote."""
    carrying: set[str] = set()
    result = []
    for statement in chosen:
        is_start, is_source = _beginnings(facts, statement)
        if is_start:
            carrying -= flow.writes(statement)
        elif is_source or flow.reads(statement, with_gradient=True) & carrying:
            result.append(statement)
            carrying |= flow.writes(statement) | facts.derived(changed_by_callees).get(statement, set())
        elif not isinstance(statement, ast.AugAssign):
            carrying -= flow.writes(statement)
    return result


def _beginnings(facts: Facts, statement: ast.stmt) -> tuple[bool, bool]:
    """Whether it makes a leaf or an object, and else, whether a gradient starts in it: many steps may ask of the same statement."""
    known = facts.derived(_Beginnings).known
    if statement not in known:
        is_leaf = make_leaf_parameters.makes_leaf(facts, statement) or hold_leaf_parameters.makes(facts, statement)
        is_start = is_leaf or makes_object(facts, statement)
        known[statement] = is_start, not is_start and carries(facts, statement)
    return known[statement]


class _Beginnings:
    def __init__(self, facts: Facts) -> None:
        self.known: dict[ast.stmt, tuple[bool, bool]] = {}


def with_their_start(facts: Facts, lifted: list[ast.stmt], chosen: list[ast.stmt]) -> list[ast.stmt]:
    """`losses = []`, `loss = 0` right where the computation begins go along: a function should fill a list of its own."""
    needed: set[str] = set()
    for statement in reversed(lifted):
        needed = (needed - flow.writes(statement)) | (flow.reads(statement) & flow.writes(statement)) | needed
    block, first, known = facts.block_of(lifted[0]), min(each.lineno for each in lifted), set(lifted)
    others = [each for each in chosen if each not in known and facts.block_of(each) is block]
    starts = [
        each
        for each in others
        if isinstance(each, ast.Assign)
        and each.lineno < first
        and (_is_constant(each.value) or _is_filled_by(each, lifted))
        and flow.writes(each) <= needed
    ]
    own = set().union(*(flow.writes(statement) for statement in lifted))
    # `loss = 0` after a first loop that is lifted too
    between = [each for each in others if lifted[0].lineno < each.lineno and flow.writes(each) & own]
    return sorted([*starts, *lifted, *between], key=lambda each: each.lineno)


def _is_filled_by(statement: ast.Assign, lifted: list[ast.stmt]) -> bool:
    """`outputs = torch.zeros(n, 3)` before `outputs[i] = net(x)`: MindSpore can't write to what a function is given."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=maker))) if maker in MAKERS:
            return any(
                isinstance(each, ast.Subscript)
                and isinstance(each.ctx, ast.Store)
                and isinstance(each.value, ast.Name)
                and each.value.id == name
                for written in lifted
                for each in ast.walk(written)
            )
    return False


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(_is_constant(each) for each in node.elts)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.List | ast.Dict) and not list(children_of(node))[1:])


def carries(facts: Facts, node: ast.AST) -> bool:
    """Whether a gradient starts in it; what is detached, or under no_grad, has none."""
    return any(_is_source(facts, each) for each in _connected(node))


def _connected(node: ast.AST) -> Iterator[ast.AST]:
    stack = [node]
    while stack:
        if not flow.is_cut(here := stack.pop()):
            yield here
            stack += children_of(here)


def _is_source(facts: Facts, node: ast.AST, seen: set[str] | None = None) -> bool:
    if isinstance(node, ast.Call):
        return calls_network(facts, node, seen)
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Load) and _is_leaf(facts, node)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        if _is_leaf(facts, node):
            return True
        parent, owner, kind = facts.parents.get(node), facts.reading.type(node.value), facts.reading.type(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            return False
        is_module = owner.kind == "instance" and facts.reading.symbols.is_module(owner.qual)
        return (is_module and kind.is_tensor) or (
            node.attr in ("weight", "bias") and kind.kind in ("tensor", "unknown", "method")
        )
    return False


def _is_leaf(facts: Facts, node: ast.Name | ast.Attribute) -> bool:
    """Whether it is a tensor of the user's own that requires a gradient, or holds some."""
    return make_leaf_parameters.is_any_leaf(facts, node) or bool(hold_leaf_parameters.holds(facts, node))


def calls_network(facts: Facts, call: ast.Call, seen: set[str] | None = None) -> bool:
    """Whether it runs a network, by whatever functions and objects of the project; `seen`: those that were looked into on the way."""
    symbols, kind = facts.reading.symbols, facts.reading.type(call.func)
    arguments = [*call.args, *_keyword_values(call)]
    if gives_no_gradient(facts, call) or makes_instance(facts, call):
        return False
    if kind.kind == "instance":
        return not _is_loss(facts, call.func) and (
            symbols.is_module(kind.qual) or holds_network(facts, kind.qual, seen)
        )
    if kind.kind == "method" and isinstance(call.func, ast.Attribute):
        owner = facts.reading.type(call.func.value)
        if owner.kind != "instance":
            return False
        is_own = symbols.method(owner.qual, call.func.attr) is not None
        if is_own and is_left_to_subclasses(facts, f"{owner.qual}.{call.func.attr}"):
            return True
        return symbols.is_module(owner.qual) or (is_own and holds_network(facts, owner.qual, seen))
    if kind.kind in ("ref", "value") and kind.qual in symbols.results:  # a function of the project
        if any(is_network(facts, argument) for argument in arguments):
            return True
        body = _body(facts, call)
        return body is not None and _reaches_network(facts, kind.qual, _connected(body), seen)
    only_holds = kind.qual.startswith("builtins.") and kind.qual not in RUNNING
    if not only_holds and any(is_network(facts, argument) for argument in call.args):
        return True
    if isinstance(call.func, ast.Call) and kind.kind in ("unknown", "tensor"):  # vmap(grad(f))(x)
        return any(_wraps_network(facts, each, seen) for each in (*call.func.args, *_keyword_values(call.func)))
    is_own = isinstance(call.func, ast.Attribute) and flow.key(call.func).startswith("self.")
    is_own |= isinstance(call.func, ast.Subscript)  # models["encoder"](x)
    is_named = isinstance(call.func, ast.Name) and not makes_no_gradient(facts, call.func.id)
    is_method = isinstance(call.func, ast.Attribute) and (
        call.func.attr == "forward"
        or is_network(facts, call.func.value)
        or is_named_like_network(call.func.value)
        or gives_parameters(facts, call.func.value)
    )
    return kind.kind in ("unknown", "method") and (is_named or is_own or is_method) and not _is_loss(facts, call.func)


def _keyword_values(call: ast.Call) -> list[ast.expr]:
    return [each.value for each in call.keywords]


def _wraps_network(facts: Facts, given: ast.expr, seen: set[str] | None) -> bool:
    """Whether what is given to a function that makes another one is a network, or a function that runs one."""
    if isinstance(given, ast.Lambda):
        return any(_is_source(facts, each, seen) for each in _connected(given.body))
    if isinstance(given, ast.Call):
        return any(_wraps_network(facts, each, seen) for each in (*given.args, *_keyword_values(given)))
    kind = facts.reading.type(given)
    body = facts.derived(_definitions).get((ast.FunctionDef, kind.qual)) if kind.kind in ("ref", "value") else None
    if body is not None:
        return _reaches_network(facts, kind.qual, _connected(body), seen)
    return is_network(facts, given)


def gives_no_gradient(facts: Facts, call: ast.Call) -> bool:
    """Whether a function or method of this file computes all that it returns under no_grad, cuts it off, or returns functions."""
    body = facts.derived(_definitions).get((ast.FunctionDef, _called_definition(facts, call)))
    if body is None:
        return False
    known = facts.derived(_cut_functions)
    if body not in known:
        known[body] = _returns_cut_values(facts, body) or _returns_functions(body)
    return known[body]


def changed_by_callees(facts: Facts) -> dict[ast.stmt, set[str]]:
    """`scale_(h, 4.0)`: statements that only call a function or method of this file, and the variables that it changes in place."""
    found: dict[ast.stmt, set[str]] = {}
    known: dict[ast.FunctionDef, set[str]] = {}
    for statement in facts.source.of(ast.Expr):
        if not isinstance(call := statement.value, ast.Call):
            continue
        if facts.reading.type(call.func).kind == "instance" and calls_network(facts, call):
            found[statement] = _asked_for_results(facts, statement)
            continue
        function = facts.derived(_definitions).get((ast.FunctionDef, _called_definition(facts, call)))
        if isinstance(function, ast.FunctionDef):
            names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
            names = names[1:] if isinstance(facts.parents.get(function), ast.ClassDef) else names
            if function not in known:
                known[function] = flow.changed_arguments(facts, function)
            given = [value for name, value in zip(names, call.args, strict=False) if name in known[function]]
            found[statement] = {flow.key(each) for each in given} - {""}
    return found


def _asked_for_results(facts: Facts, statement: ast.stmt) -> set[str]:
    """`model(img)` alone: networks keep what they compute, and `m.loss`, or `for m in kept: m.loss`, asks them for it."""
    scope = facts.enclosing(statement, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    known = facts.derived(_known_requests)
    if scope not in known:
        nodes = make_leaf_parameters.own_nodes(scope)
        loads = [each for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)]
        asked = {flow.key(each.value) for each in loads if _is_kept_result(facts, each)}
        loops = [each for each in nodes if isinstance(each, ast.For | ast.comprehension)]
        named = {each: {part.id for part in walk(each.target) if isinstance(part, ast.Name)} for each in loops}
        known[scope] = asked | {flow.key(each.iter) for each in loops if asked & named[each]}
    return known[scope] - {"", "self"}


def _known_requests(facts: Facts) -> dict[ast.AST, set[str]]:
    return {}


def _is_kept_result(facts: Facts, node: ast.Attribute) -> bool:
    """An attribute that is no method, of something that is no tensor and no module of Python's."""
    parent, owner = facts.parents.get(node), facts.reading.type(node.value)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    return not is_called and not owner.is_tensor and owner.kind in ("instance", "unknown")


def _called_definition(facts: Facts, call: ast.Call) -> str:
    kind = facts.reading.type(call.func)
    if kind.kind == "method" and isinstance(call.func, ast.Attribute):
        owner = facts.reading.type(call.func.value)
        found = facts.reading.symbols.method(owner.qual, call.func.attr) if owner.kind == "instance" else None
        return f"{owner.qual}.{call.func.attr}" if found is not None else ""
    return kind.qual if kind.kind in ("ref", "value") else ""


def _cut_functions(facts: Facts) -> dict[ast.AST, bool]:
    return {}


def _returns_functions(body: ast.AST) -> bool:
    """`def energy(name): return lambda z: ...`: what it returns has yet to be called."""
    own = make_leaf_parameters.own_nodes(body)
    returned = [each.value for each in own if isinstance(each, ast.Return) and each.value is not None]
    defined = {each.name for each in own if isinstance(each, ast.FunctionDef)}
    return bool(returned) and all(
        isinstance(each, ast.Lambda) or (isinstance(each, ast.Name) and each.id in defined) for each in returned
    )


def _returns_cut_values(facts: Facts, body: ast.AST) -> bool:
    own = make_leaf_parameters.own_nodes(body)
    returned = [each for each in own if isinstance(each, ast.Return) and each.value is not None]
    cut = {node for each in own if isinstance(each, ast.With) and flow.is_cut(each) for node in walk(each)}
    cut |= {name for each in cut if isinstance(each, ast.stmt) for name in facts.stores_in(each)}
    stores = [each for each in own if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    stores += [name for each in own if facts.as_read(each) is not each for name in facts.stores_in(each)]

    def is_cut(value: ast.expr) -> bool:
        if isinstance(value, ast.Tuple | ast.List):
            return all(is_cut(each) for each in value.elts)
        if isinstance(value, ast.Name):  # an argument keeps the gradient that it has
            found = [each for each in stores if each.id == value.id]
            return bool(found) and all(each in cut for each in found)
        return isinstance(value, ast.Constant) or flow.is_cut(value) or (value in cut and isinstance(value, ast.Call))

    return bool(returned) and all(each.value is not None and is_cut(each.value) for each in returned)


def _is_loss(facts: Facts, node: ast.expr) -> bool:
    """torch's own losses have no parameters: a gradient goes through them, but starts elsewhere."""
    kind = facts.reading.type(node)
    if kind.kind == "instance":
        return facts.reading.symbols.framework.role(kind.qual) is Role.LOSS
    is_network = any(word in flow.key(node).lower() for word in ("model", "net"))  # `self.loss_model(inputs, targets)`
    return kind.kind in ("unknown", "method") and looks_like_loss(flow.key(node)) and not is_network


def is_left_to_subclasses(facts: Facts, qual: str) -> bool:
    """`def training_step(self, batch): raise NotImplementedError`: what runs is written elsewhere."""
    body = facts.derived(_definitions).get((ast.FunctionDef, qual))
    if not isinstance(body, ast.FunctionDef):
        return False
    last, marks = body.body[-1], [facts.source.text(each) for each in body.decorator_list]
    is_empty = isinstance(last, ast.Pass) and len(body.body) == 1
    raises = isinstance(last, ast.Raise) and "NotImplementedError" in facts.source.text(last)
    return is_empty or raises or any(mark.endswith("abstractmethod") for mark in marks)


def holds_network(facts: Facts, qual: str, seen: set[str] | None = None) -> bool:
    """Whether an object of a class may run a network. Only a class that calls none certainly doesn't."""
    symbols = facts.reading.symbols
    if (seen is not None and qual in seen) or symbols.origin(qual) not in symbols.classes:
        return False
    body = facts.derived(_definitions).get((ast.ClassDef, qual))
    if body is None or any(base in symbols.classes and base != qual for base in symbols.bases(qual)):
        return symbols.origin(qual) not in symbols.plain
    known = facts.derived(_known_calls)
    if body not in known:
        has_leaf = any(isinstance(each, ast.Attribute) and _is_leaf(facts, each) for each in walk(body))
        known[body] = None if has_leaf else [each for each in walk(body) if isinstance(each, ast.Call)]
    calls = known[body]
    return calls is None or _reaches_network(facts, qual, calls, seen)


def _known_calls(facts: Facts) -> dict[ast.AST, list[ast.Call] | None]:
    """Class -> the calls in it; None where it has a tensor of the user's own that requires a gradient."""
    return {}


def _reaches_network(facts: Facts, qual: str, parts: Iterable[ast.AST], seen: set[str] | None) -> bool:
    """Whether one of the parts runs a network. Each function and class is looked into once, however many ways lead to it."""
    known = facts.derived(_known_answers)
    if qual in known:
        return known[qual]
    if seen is not None:
        if qual in seen:
            return False
        seen.add(qual)
        return any(_is_source(facts, each, seen) for each in parts)
    looked_into = {qual}
    known[qual] = found = any(_is_source(facts, each, looked_into) for each in parts)
    if not found:
        known |= dict.fromkeys(looked_into, False)
    return found


def _known_answers(facts: Facts) -> dict[str, bool]:
    return {}


def _definitions(facts: Facts) -> dict[tuple[type, str], ast.AST]:
    """(kind, full name) -> the first definition of that name in this file."""
    return {(type(node), name): node for node, name in reversed(facts.reading.owners.items())}


def networks(facts: Facts, statements: Iterable[ast.AST]) -> list[str] | None:
    """The networks that they call, as text; None if something is called that can't be told."""
    found: dict[str, None] = {}
    for statement in statements:
        for call in _connected(statement):  # a teacher without gradients has none to give
            if isinstance(call, ast.Attribute) and _is_source(facts, call):
                owner = _owner(facts, call)
                if not owner:
                    return None
                found[owner] = None
            if not isinstance(call, ast.Call) or not calls_network(facts, call) or _reads_only_leaves(facts, call):
                continue
            callee = _called(facts, call)
            kind = facts.reading.type(callee)
            name = flow.key(callee)
            if kind.kind == "instance" and facts.reading.symbols.role(kind.qual) is Role.LOSS:
                continue
            if given := _given_networks(facts, call):
                found |= dict.fromkeys(given)
                continue
            if kind.kind != "instance" or not facts.reading.symbols.is_module(kind.qual) or not name:
                return None
            found[facts.source.text(callee)] = None
    return list(found)


def _reads_only_leaves(facts: Facts, call: ast.Call, seen: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a function of this file computes with tensors of the user's own and runs no network: `return x * w`."""
    body = _body(facts, call)
    if body is None or body in seen:
        return False
    for node in _connected(body):
        if isinstance(node, ast.Attribute) and _is_source(facts, node):
            return False
        if not isinstance(node, ast.Call) or not calls_network(facts, node):
            continue
        if not _reads_only_leaves(facts, node, seen | {body}):
            return False
    return not any(is_network(facts, each) for each in call.args)


def unknown_networks(facts: Facts, statements: Iterable[ast.AST]) -> list[str]:
    """What they call that may be a network, if it is all held in variables: it can be asked when it runs."""
    found: dict[str, None] = {}
    for statement in statements:
        for call in walk(statement):
            if isinstance(call, ast.Call) and calls_network(facts, call):
                callee = _called(facts, call)
                if isinstance(callee, ast.Attribute) and is_object(facts, callee.value):
                    callee = callee.value  # a method of an object: what it trains lies in that
                if not flow.key(callee) or facts.reading.type(callee).kind not in ("unknown", "instance", "method"):
                    return []
                found[flow.key(callee)] = None
    return list(found)


def _owner(facts: Facts, node: ast.expr) -> str:
    """The network that a parameter is read from: `model` in `model.layers[0].weight`."""
    outermost = ""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
        if flow.key(node) and is_network(facts, node):
            outermost = facts.source.text(node)
    return outermost


def _called(facts: Facts, call: ast.Call) -> ast.expr:
    """The network itself in `net(x)` and `net.forward(x)`."""
    match call.func:
        case ast.Attribute(attr="forward", value=owner) if is_network(facts, owner):
            return owner
    return call.func


def _given_networks(facts: Facts, call: ast.Call) -> list[str]:
    """The networks that a function of this file is called with, if it runs no other."""
    body = _body(facts, call)
    if body is None:
        return []
    arguments = {argument.arg for argument in walk(body.args) if isinstance(argument, ast.arg)}
    for node in _connected(body):
        if isinstance(node, ast.Call) and calls_network(facts, node):
            used = {each.id for each in walk(node) if isinstance(each, ast.Name) and is_network(facts, each)}
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            if not (used | {called}) - {""} <= arguments or isinstance(node.func, ast.Attribute):
                return []
    given = [*call.args, *(each.value for each in call.keywords)]
    return [facts.source.text(each) for each in given if is_network(facts, each) and flow.key(each)]


def own_leaves(facts: Facts, statements: Iterable[ast.AST]) -> dict[str, str]:
    """What the statements, or functions of this file that they call, need the gradient of: tensors of the user's own (ONE),
    and containers of such (MANY)."""
    found: list[tuple[ast.expr, str]] = []
    stack, seen = list(statements), set()
    while stack:
        root = stack.pop()
        for node in walk(root):
            if isinstance(node, ast.Name | ast.Attribute):
                held = hold_leaf_parameters.holds(facts, node)
                if make_leaf_parameters.is_any_leaf(facts, node):
                    found.append((node, hold_leaf_parameters.ONE))
                elif held and (root not in seen or hold_leaf_parameters.is_seen_from_outside(facts, node, root)):
                    found.append((node, held))
            elif isinstance(node, ast.Call) and (body := _body(facts, node)) is not None and body not in seen:
                seen.add(body)
                stack.append(body)
    found.sort(key=lambda each: facts.source.start(each[0]))
    return {facts.source.text(node): held for node, held in found}


def _body(facts: Facts, call: ast.Call) -> ast.FunctionDef | None:
    """The function of this file that is called, unless it computes without gradients."""
    kind = facts.reading.type(call.func)
    if kind.kind not in ("ref", "value") or kind.qual not in facts.reading.symbols.results:
        return None
    node = facts.derived(_definitions).get((ast.FunctionDef, kind.qual))
    if not isinstance(node, ast.FunctionDef):
        return None
    marks = [facts.api(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
    return None if any(mark.endswith(("no_grad", "inference_mode")) for mark in marks) else node
