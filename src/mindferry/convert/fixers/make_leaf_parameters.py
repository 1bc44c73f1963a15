"""`w = torch.randn(3, requires_grad=True)`: a tensor of the user's own that gradients are taken of becomes a parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...apis._own_memory import owned
from ...read.framework import Role
from ...read.guesses import looks_like_parameter
from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceNode, Texts, claim_all

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
INNER = (*FUNCTIONS, ast.ClassDef, ast.Lambda)  # what has names of its own
Leaves = dict[tuple[ast.AST, str], list[ast.stmt]]  # (scope, name) -> the statements that make it one


def plan(facts: Facts) -> Iterator[Change]:
    for (_, name), statements in facts.derived(_find).items():
        for statement in statements:
            if not isinstance(statement, ast.Assign) or isinstance(statement.targets[0], ast.Attribute):
                yield claim_all(statement)
            yield AtEnd(partial(_write, facts, name, statement))
    for (_, name), makers in facts.derived(_find_held).items():
        for held in makers:
            yield AtEnd(partial(_write_held, facts, name, held))


def _write_held(facts: Facts, name: str, statement: ast.Assign, texts: Texts) -> Iterator[Edit]:
    before = facts.source.text(statement)
    if _is_of_network(facts, statement):
        yield ReplaceNode(statement, f"{texts.name('compat.hold_leaf')}(self, {name!r}, {texts.of(statement.value)})")
    else:
        value = f"{texts.name('mindspore.Parameter')}({owned(texts.of(statement.value))}, name={name!r})"
        yield ReplaceNode(statement.value, value)
    yield facts.record(statement, facts.uses.name(Use.REQUIRES_GRADIENT), before, texts.of(statement))


def _write(facts: Facts, name: str, statement: ast.stmt, texts: Texts) -> Iterator[Edit]:
    maker = texts.name("mindspore.Parameter")
    if isinstance(statement, ast.Assign) and _is_parameter(facts, statement.value):
        made = texts.of(statement.value)
        if made.startswith(f"{maker}(") and "name=" not in made:  # names tell a function's parameters apart
            yield ReplaceNode(statement.value, f"{made[:-1].rstrip().rstrip(',')}, name={name!r})")
        return
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        yield ReplaceNode(statement.value, f"{maker}({owned(texts.of(statement.value))}, name={name!r})")
    else:
        yield ReplaceNode(statement, f"{name} = {maker}({name}.copy(), name={name!r})")
    before = facts.source.text(statement)
    yield facts.record(statement, facts.uses.name(Use.REQUIRES_GRADIENT), before, texts.of(statement))


def is_leaf(facts: Facts, name: ast.Name) -> bool:
    """Whether the name stands for such a tensor where it is used: nothing else has been bound to it since."""
    known = facts.derived(_find)
    if not known:
        return False
    scope = _scope(facts, name)
    if (scope, name.id) in known:
        return _is_bound(facts, scope, name.id, known[scope, name.id], facts.source.start(name))
    while scope is not facts.source.tree and not is_local(
        facts, scope, name.id
    ):  # a closure reads what its function made
        scope = _scope(facts, scope)
        if (scope, name.id) in known:
            return _is_bound(facts, scope, name.id, known[scope, name.id])
    return False


def _is_bound(facts: Facts, scope: ast.AST, name: str, makers: list[ast.stmt], before: int | None = None) -> bool:
    """Whether the last of the statements that bind the name, up to an offset, makes it a leaf."""
    start = facts.source.start
    bound: list[tuple[int, bool]] = [(start(maker), True) for maker in makers]
    bound += [
        (start(node), False)
        for node in _own_stores(facts, scope, name)
        if not isinstance(facts.parents.get(node), ast.AugAssign)
        and facts.statement_of(node) not in makers
        and not _is_read_first(facts, node, before)
    ]
    earlier = [each for each in bound if before is None or each[0] <= before]
    return bool(earlier) and max(earlier)[1]


def _is_read_first(facts: Facts, target: ast.Name, before: int | None) -> bool:
    """`x = x * 2`: the x on the right is still the old one, though its text comes later."""
    statement = facts.statement_of(target)
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) if before is not None:
            return facts.source.start(value) <= before < facts.source.end(value)
    return False


def makes_leaf(facts: Facts, statement: ast.stmt) -> bool:
    """Whether it is one of the statements that make a leaf: the gradient starts after it."""
    return statement in facts.derived(_makers)


def _makers(facts: Facts) -> set[ast.stmt]:
    return {statement for makers in facts.derived(_find).values() for statement in makers}


def _own_stores(facts: Facts, scope: ast.AST, name: str) -> list[ast.Name]:
    """Where the scope itself, and no function or class inside it, binds the name."""
    return [each for each in facts.bound_within(name, scope) if facts.enclosing(each, *INNER) in (scope, None)]


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """Without those of functions inside."""
    found, stack = [], list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, INNER):
            stack.extend(ast.iter_child_nodes(node))
    return found


def is_any_leaf(facts: Facts, node: ast.Name | ast.Attribute) -> bool:
    return is_leaf(facts, node) if isinstance(node, ast.Name) else is_held_leaf(facts, node)


def is_held_leaf(facts: Facts, node: ast.Attribute) -> bool:
    """`self.log_alpha` in an object whose class makes it such a tensor."""
    is_own = isinstance(node.value, ast.Name) and node.value.id == "self" and isinstance(node.ctx, ast.Load)
    return is_own and (facts.enclosing(node, ast.ClassDef), node.attr) in facts.derived(_find_held)


def _find_held(facts: Facts) -> dict[tuple[ast.AST | None, str], list[ast.Assign]]:
    """`self.log_alpha = torch.zeros(1, requires_grad=True)`; or a plain tensor, and `self.log_alpha.requires_grad = True` later on."""
    found: dict[tuple[ast.AST | None, str], list[ast.Assign]] = {}
    if b"requires_grad" not in facts.source.data:
        return found
    marked = {key for node in facts.source.nodes if (key := _marked_attribute(facts, node))}
    for node in facts.source.of(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(attr=name, value=ast.Name(id="self") as owner)], value=ast.Call() as call
            ) if facts.reading.type(owner).kind == "instance":
                key = (facts.enclosing(node, ast.ClassDef), name)
                is_marked_later = key in marked and facts.reading.type(call).is_tensor
                if (is_marked_later or requires(facts, call)) and not _is_parameter(facts, call):
                    found.setdefault(key, []).append(node)
    return found


def _marked_attribute(facts: Facts, node: ast.AST) -> tuple[ast.AST | None, str] | None:
    """(class, log_alpha) of `self.log_alpha.requires_grad = True` and `self.log_alpha.requires_grad_()`."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(attr="requires_grad", value=ast.Attribute(attr=name, value=ast.Name(id="self")))],
            value=ast.Constant(value=True),
        ):
            return facts.enclosing(node, ast.ClassDef), name
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(attr="requires_grad_", value=ast.Attribute(attr=name, value=ast.Name(id="self")))
            ) as call
        ) if is_marked(call):
            return facts.enclosing(node, ast.ClassDef), name
    return None


def _is_of_network(facts: Facts, statement: ast.stmt) -> bool:
    """A network would take a parameter for one of its own; torch's keeps such a tensor beside them."""
    owner = facts.enclosing(statement, ast.ClassDef)
    return facts.reading.symbols.is_module(facts.reading.owners.get(owner, "")) if owner is not None else False


def _find(facts: Facts) -> Leaves:
    found: Leaves = {}
    if b"requires_grad" not in facts.source.data and b"Parameter(" not in facts.source.data:
        return found
    if facts.source.members.keys().isdisjoint(("grad", "backward", "manual_backward")) and not facts.hands_losses_on:
        return found
    derived = {
        (_scope(facts, call), name.id)
        for call in facts.calls_for(Use.DERIVATIVE)
        for name in walk(call)
        if isinstance(name, ast.Name)
    }
    for node in facts.source.statements:
        name = _made(facts, node)
        if name and (_scope(facts, node), name) not in derived:
            found.setdefault((_scope(facts, node), name), []).append(node)
    return found


def _made(facts: Facts, node: ast.stmt) -> str:
    """The name that a statement makes a leaf, or ''."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            return name if requires(facts, call) else ""
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="requires_grad_", value=ast.Name() as owner)) as call):
            return owner.id if is_marked(call) and _keeps_gradient(facts, owner) else ""
        case ast.Assign(
            targets=[ast.Attribute(attr="requires_grad", value=ast.Name() as owner)], value=ast.Constant(value=True)
        ):
            return owner.id if _keeps_gradient(facts, owner) else ""
    return ""


def requires(facts: Facts, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_":
        return is_marked(call)
    is_tensor = facts.reading.type(call).is_tensor or facts.is_use(Use.VARIABLE, call.func)
    flags = [key.value for key in call.keywords if key.arg == "requires_grad"]
    are_set = [isinstance(flag, ast.Constant) and flag.value is True for flag in flags]
    if _is_parameter(facts, call):
        return all(are_set) and len(call.args) == 1 and _is_trained_here(facts, call)
    return is_tensor and any(are_set)


def _is_trained_here(facts: Facts, call: ast.Call) -> bool:
    """Whether the function that makes a parameter takes gradients too; a network names its parameters itself."""
    return facts.enclosing(call, ast.ClassDef) is None and _scope(facts, call) in facts.derived(_taking_gradients)


def _taking_gradients(facts: Facts) -> set[ast.AST]:
    """The functions in which, or in a function of which, a gradient is taken; the module too."""
    found: set[ast.AST] = set()
    calls = facts.source.calls_named(*(each.function for each in facts.reading.symbols.differentiated))
    for node in (*facts.source.members.get("backward", ()), *calls):
        scope = _scope(facts, node)
        while scope not in found:
            found.add(scope)
            scope = _scope(facts, scope)
    return found


def _is_parameter(facts: Facts, node: ast.expr) -> bool:
    """`nn.Parameter(x)`, also with a flag set: `nn.Parameter(x).requires_grad_()`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="requires_grad_", value=made)):
            return _is_parameter(facts, made)
        case ast.Call(func=function):
            return facts.is_use(Use.PARAMETER, function)
    return False


def is_marked(call: ast.Call) -> bool:
    flags = [*call.args, *(key.value for key in call.keywords)]
    return not flags or (isinstance(flags[0], ast.Constant) and flags[0].value is True)


def _keeps_gradient(facts: Facts, owner: ast.Name) -> bool:
    """`x.grad` is read in the same function, or x is given to an optimizer or a loop over gradients there; and x is no parameter of a network."""
    key = _scope(facts, owner), owner.id
    is_kept = key in facts.derived(_read_gradients) or key in facts.derived(_read_in_loops)
    is_trained = facts.reading.type(owner).is_tensor and key in facts.derived(_given_to_optimizers)
    return (is_kept or is_trained) and not looks_like_parameter(owner.id)


def _read_gradients(facts: Facts) -> set[tuple[ast.AST, str]]:
    """`x.grad`: the name, with the function that it stands in and those around that."""
    found: set[tuple[ast.AST, str]] = set()
    for node in facts.source.members.get("grad", ()):
        scope = _scope(facts, node)
        while isinstance(node.value, ast.Name) and (scope, node.value.id) not in found:
            found.add((scope, node.value.id))
            scope = _scope(facts, scope)
    return found


def _read_in_loops(facts: Facts) -> set[tuple[ast.AST, str]]:
    """`params = [w, b]`, `sgd([w, b], lr)`, `for p in (w, b)`: the names, where a loop of the file reads `p.grad`."""
    targets = {
        (_scope(facts, loop), name.id)
        for loop in facts.source.of(ast.For)
        for name in walk(loop.target)
        if isinstance(name, ast.Name)
    }
    reading = facts.source.members.get("grad", ())
    if not any((_scope(facts, node), node.value.id) in targets for node in reading if isinstance(node.value, ast.Name)):
        return set()
    found: set[tuple[ast.AST, str]] = set()
    listings: list[ast.List | ast.Tuple] = [*facts.source.of(ast.List), *facts.source.of(ast.Tuple)]
    for listed in listings:
        match facts.parents.get(listed):
            case ast.For(iter=value) | ast.Assign(value=value) if value is listed:
                pass
            case ast.Call(func=function) if facts.reading.type(function).qual in facts.reading.symbols.results:
                pass
            case _:
                continue
        found |= {(_scope(facts, listed), each.id) for each in listed.elts if isinstance(each, ast.Name)}
    return found


def _given_to_optimizers(facts: Facts) -> set[tuple[ast.AST, str]]:
    """`optim.Adam([img])`: the name, with its function; also `make_optimizer(img)`, whose function gives it to one."""
    found: set[tuple[ast.AST, str]] = set()
    makers: dict[str, list[ast.FunctionDef]] = {}
    for call in facts.source.of(ast.Call):
        kind = facts.reading.type(call)
        if kind.kind != "instance" or facts.reading.symbols.role(kind.qual) is not Role.OPTIMIZER:
            continue
        found |= {(_scope(facts, call), name) for name in _listed_names(call)}
        if isinstance(function := _scope(facts, call), ast.FunctionDef):
            makers.setdefault(function.name, []).append(function)
    for name, functions in makers.items():
        for call in facts.source.calls_named(name):
            given = {
                value.id
                for function in functions
                for value, argument in zip(call.args, function.args.args, strict=False)
                if isinstance(value, ast.Name) and (function, argument.arg) in found
            }
            found |= {(_scope(facts, call), each) for each in given}
    return found


def _listed_names(call: ast.Call) -> Iterator[str]:
    """The variables in the lists that an optimizer is made with: `[img]`, `[{"params": [img]}]`."""
    stack: list[ast.expr] = [*call.args[:1], *(key.value for key in call.keywords if key.arg == "params")]
    while stack:
        match stack.pop():
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                yield from (each.id for each in parts if isinstance(each, ast.Name))
                stack += [each for each in parts if not isinstance(each, ast.Name)]


def _scope(facts: Facts, node: ast.AST) -> ast.AST:
    return facts.enclosing(node, *FUNCTIONS) or facts.source.tree


def is_local(facts: Facts, scope: ast.AST, name: str) -> bool:
    if not isinstance(scope, FUNCTIONS):
        return False
    if any(isinstance(each, ast.arg) and each.arg == name for each in facts.source.walk(scope.args)):
        return True
    return facts.is_bound_within(name, scope) and (scope, name) not in facts.derived(_declared_global)


def _declared_global(facts: Facts) -> set[tuple[ast.AST, str]]:
    """By the function that says so, and those around it."""
    found: set[tuple[ast.AST, str]] = set()
    for node in facts.source.of(ast.Global):
        scope = _scope(facts, node)
        while not found.issuperset(named := {(scope, name) for name in node.names}):
            found |= named
            scope = _scope(facts, scope)
    return found
