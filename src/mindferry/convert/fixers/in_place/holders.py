"""Who else holds a tensor that a name is about to be bound to anew: another name, a container, an attribute; or a view of it."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterator
from dataclasses import dataclass

from ....read.uses import Use
from ...facts import Facts
from ..bindings import PERHAPS_VIEWS, VIEWS, Names

KEEPING = frozenset(
    "append add insert extend setdefault put appendleft".split()
)  # methods that keep what they are given


SHARING = VIEWS | PERHAPS_VIEWS | {"numpy"}


def is_held(facts: Facts, names: Names, base: ast.Name) -> bool:
    """`y = x`, `parts = {"a": x}`, `seen.append(x)`, `self.last = x` since x got its value: these see x change in torch."""
    return any(_keeps(names, statement, base) for statement in _since_bound(facts, names, base))


def views(facts: Facts, names: Names, base: ast.Name) -> Iterator[str]:
    """Names that were bound to a view of it since, and are read below: `flat = x.view(-1)`, `row = x[0]`, `old = x.data`."""
    for statement in _since_bound(facts, names, base):
        match statement:
            case ast.Assign(targets=[target], value=value):
                for other, made in _pairs(target, value):
                    is_alias = isinstance(made, ast.Name)  # another name of the same tensor: see is_held
                    is_other = other != base.id and not is_alias and _is_view_of(facts, made, base.id)
                    if is_other and names.is_loaded_after(other, base):
                        yield other


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment binds, each with its value, or with that of which it is a part."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case (ast.Tuple(elts=names), ast.Tuple(elts=values)) if len(names) == len(values):
            for one, own in zip(names, values, strict=True):
                yield from _pairs(one, own)
        case ast.Tuple(elts=names), _:
            yield from ((each.id, value) for each in names if isinstance(each, ast.Name))


def _is_view_of(facts: Facts, value: ast.expr, name: str) -> bool:
    while not isinstance(value, ast.Name):
        match value:
            case ast.Call(func=ast.Attribute(attr=member, value=viewed)) | ast.Attribute(attr=member, value=viewed):
                if member not in SHARING:
                    return False
            case ast.Subscript(value=viewed, slice=index):
                if facts.reading.type(index).kind in ("tensor", "list"):
                    return False
            case _:
                return False
        value = viewed
    return value.id == name


def is_for_the_caller(facts: Facts, node: ast.Name) -> bool:
    """Without gradients, in a function named like trunc_normal_, or where a call of this file says so, arguments are changed for the caller to see."""
    function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    name = getattr(function, "name", "")
    is_named_so = name.endswith("_") and not name.endswith("__")
    return is_named_so or is_without_gradients(facts, node) or _is_read_by_caller(facts, node)


def is_without_gradients(facts: Facts, node: ast.AST) -> bool:
    """Under `with torch.no_grad():`, or in a function that is decorated so."""
    function = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    marks: list[ast.expr] = list(getattr(function, "decorator_list", []))
    block = facts.enclosing(node, ast.With, ast.FunctionDef, ast.AsyncFunctionDef)
    while isinstance(block, ast.With):
        marks += [item.context_expr for item in block.items]
        block = facts.enclosing(block, ast.With, ast.FunctionDef, ast.AsyncFunctionDef)
    return any(facts.is_use(Use.NO_GRADIENT, each.func if isinstance(each, ast.Call) else each) for each in marks)


def _is_read_by_caller(facts: Facts, base: ast.Name) -> bool:
    """Whether the name is an argument of a function that this file calls with a variable which it reads again below."""
    function = facts.enclosing(base, ast.FunctionDef)
    if not isinstance(function, ast.FunctionDef):
        return False
    arguments = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    is_method = isinstance(facts.parents.get(function), ast.ClassDef)
    if base.id not in arguments:
        return False
    position, home = arguments.index(base.id) - is_method, facts.parents.get(function)
    owners = ["self", facts.reading.owners.get(home)] if home is not None and is_method else [""]
    known = facts.derived(_GivenValues)
    given = [known.of(function.name, owner, position) for owner in owners if owner is not None]
    if not all(each.are_tensors for each in given):
        return False  # `total = add(0, x)`: what is no tensor can't be written to
    names = facts.derived(Names)
    return any(
        each.is_read_again or any(_is_read_again(facts, names, *pair) for pair in each.in_loops) for each in given
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """What the calls of functions of one name give for one argument."""

    are_tensors: bool
    is_read_again: bool  # a variable that is read again below
    in_loops: list[tuple[ast.Call, ast.Name]]  # where that depends on what the loop binds by then


class _GivenValues:
    """Told once for all functions of a name: a file may hold thousands of them, each called `inner`."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._calls: dict[str, dict[str, list[ast.Call]]] = {}  # by name and by what they are called of
        self._found: dict[tuple[str, str, int], _Given] = {}

    def of(self, name: str, owner: str, position: int) -> _Given:
        """`owner`: "" for functions; for methods a class's dotted name, or "self"."""
        key = name, owner, position
        if key not in self._found:
            self._found[key] = self._look(name, owner, position)
        return self._found[key]

    def _look(self, name: str, owner: str, position: int) -> _Given:
        facts, names = self._facts, self._facts.derived(Names)
        if name not in self._calls:
            self._calls[name] = {}
            for call in facts.source.calls_named(name):
                self._calls[name].setdefault(self._owner(call.func), []).append(call)
        calls = self._calls[name].get(owner, [])
        given = [(call, call.args[position]) for call in calls if 0 <= position < len(call.args)]
        named = [(call, each) for call, each in given if isinstance(each, ast.Name)]
        in_loops = [pair for pair in named if facts.enclosing(pair[0], ast.For, ast.While, ast.AsyncFor)]
        plain = (pair for pair in named if not facts.enclosing(pair[0], ast.For, ast.While, ast.AsyncFor))
        return _Given(
            all(facts.reading.type(each).is_tensor for _, each in given),
            any(_is_read_again(facts, names, *pair) for pair in plain),
            in_loops,
        )

    def _owner(self, called: ast.expr) -> str:
        if not isinstance(called, ast.Attribute):
            return ""
        if isinstance(called.value, ast.Name) and called.value.id == "self":
            return "self"
        kind = self._facts.reading.type(called.value)
        return kind.qual if kind.kind == "instance" else "?"


def _is_read_again(facts: Facts, names: Names, call: ast.Call, given: ast.Name) -> bool:
    statement = facts.statement_of(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    is_bound = any(
        isinstance(each, ast.Name) and each.id == given.id for target in targets for each in ast.walk(target)
    )
    return not is_bound and names.is_loaded_after(given.id, call)


def _since_bound(facts: Facts, names: Names, base: ast.Name) -> Iterator[ast.AST]:
    """Statements and calls that name it, from its last assignment above on, in the same scope."""
    start, scope = facts.source.start(base), names.scope(base)
    bound = names.last_bound(base)
    uses, starts = facts.derived(_Holders).uses(names, scope, base.id)
    for use in uses[bisect.bisect_right(starts, bound) : bisect.bisect_left(starts, start)]:
        if not _is_other_branch(facts, use, base):
            yield from _around(facts, use)


class _Holders:
    """Of the places that name a tensor, those that may hold or show it; `x.add_(1)`, time and again, is none."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._found: dict[tuple[ast.AST, str], tuple[list[ast.Name], list[int]]] = {}

    def uses(self, names: Names, scope: ast.AST, name: str) -> tuple[list[ast.Name], list[int]]:
        """As the text has them, and where each starts."""
        if (scope, name) not in self._found:
            found = [use for use in names.loads(scope, name) if self._may_hold(use, name)]
            self._found[scope, name] = names.in_order(found)
        return self._found[scope, name]

    def _may_hold(self, use: ast.Name, name: str) -> bool:
        for node in _around(self._facts, use):
            match node:
                case ast.Assign(targets=[ast.Name(id=other)]) if other == name:
                    continue
                case ast.Assign() | ast.AnnAssign():
                    return True
                case ast.Call(func=ast.Attribute(attr=method)) if method in KEEPING:
                    return True
        return False


def _is_other_branch(facts: Facts, use: ast.AST, base: ast.AST) -> bool:
    """Whether one stands under `if` and the other under its `else`."""
    branch = facts.enclosing(use, ast.If)
    while isinstance(branch, ast.If):
        if facts.is_within(base, branch):
            sides = [any(facts.is_within(node, each) for each in branch.body) for node in (use, base)]
            return sides[0] != sides[1]
        branch = facts.enclosing(branch, ast.If)
    return False


def _around(facts: Facts, use: ast.Name) -> Iterator[ast.AST]:
    """The statement and the call that it is an immediate part of, or that its list or dict is."""
    node: ast.AST | None = facts.parents.get(use)
    while isinstance(
        node, ast.Tuple | ast.List | ast.Dict | ast.Set | ast.Attribute | ast.keyword | ast.Subscript
    ) and not isinstance(getattr(node, "ctx", None), ast.Store):
        node = facts.parents.get(node)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        yield node
    elif isinstance(node, ast.Call):
        yield node
        parent = facts.parents.get(node)
        while isinstance(parent, ast.Attribute | ast.Call | ast.Subscript):  # x.unsqueeze(0).expand(2, 3)
            parent = facts.parents.get(parent)
        if isinstance(parent, ast.Assign):
            yield parent


def _keeps(names: Names, node: ast.AST, base: ast.Name) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=method), args=given) if method in KEEPING:
            return any(_is_or_holds(each, base.id) for each in given)
        case ast.Assign(targets=[ast.Name(id=other)], value=value):
            return other != base.id and _is_or_holds(value, base.id) and names.is_loaded_after(other, base)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()], value=value):
            return _is_or_holds(value, base.id)
    return False


def _is_or_holds(value: ast.expr, name: str) -> bool:
    match value:
        case ast.Name(id=held):
            return held == name
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(_is_or_holds(each, name) for each in parts)
        case ast.Dict(values=parts):
            return any(_is_or_holds(each, name) for each in parts)
    return False
