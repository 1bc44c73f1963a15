"""Functions that differentiate an argument: `def update(optimizer, loss): …; loss.backward(); …`. Only their callers know what it is made of."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from .guesses import looks_like_loss, looks_like_network, may_be_instance
from .source import Source
from .walk import children_of, walk

BACKWARD = "backward"
SCALE = "scale"  # of a loss scaler
CUT = frozenset("item detach tolist numpy".split())  # what they give has no gradient
CALL = "__call__"
Assignment = ast.Assign | ast.AugAssign


@dataclass(frozen=True, slots=True)
class Differentiated:
    """The argument that a function differentiates."""

    function: str  # its name, or that of the class whose objects are called
    name: str
    place: int  # among those that may be given by position, self not counted; -1: given by name only
    owner: str  # the full name of a method's class

    @property
    def is_of_objects(self) -> bool:
        return self.owner.endswith(f".{self.function}")


@dataclass(frozen=True, slots=True)
class Carried:
    """An argument, by way of which name and assignments a value is computed from it; '' where it is not from a single one."""

    argument: str = ""
    name: str = ""
    way: list[tuple[str, Assignment]] = field(default_factory=list)  # each with the name that it is computed from


def differentiated_arguments(
    source: Source, owners: Mapping[ast.AST, str], known: Iterable[Differentiated]
) -> set[Differentiated]:
    """Those of this file, also of functions that hand it on to one that is known."""
    of_others = by_function(known)
    if not (source.mentions(BACKWARD) or any(source.mentions(name) for name in of_others)):
        return set()
    found: set[Differentiated] = set()
    for function in source.of(ast.FunctionDef):
        values = list(_differentiated(function, of_others))
        name = _first_carried(function, values) if values else ""
        if not name:
            continue
        home = source.parents.get(function)
        owner = home if isinstance(home, ast.ClassDef) else None
        key = owner.name if owner is not None and function.name == CALL else function.name
        positional = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        place = positional.index(name) - (owner is not None) if name in positional else -1
        found.add(Differentiated(key, name, place, owners.get(owner, "") if owner is not None else ""))
    return found


def by_function(known: Iterable[Differentiated]) -> dict[str, list[Differentiated]]:
    found: dict[str, list[Differentiated]] = {}
    for each in known:
        found.setdefault(each.function, []).append(each)
    return found


def called_with_losses(source: Source, known: Iterable[Differentiated]) -> set[str]:
    """Those of the known functions and classes that the file calls, or whose objects."""
    found = {each.function for each in known if source.calls_named(each.function)}
    classes = {each.function for each in known if each.is_of_objects}
    names = {called_name(call) for call in source.of(ast.Call)} if classes else set()
    return found | {each for each in classes if any(may_be_instance(name, each) for name in names)}


def carried_argument(function: ast.FunctionDef, value: ast.expr) -> Carried:
    """What the value is plain arithmetic of."""
    origins = _Origins(function)
    for statement in _statements(function):
        if statement.lineno >= value.lineno:
            break
        origins.go_past(statement)
    return origins.carried(value)


def _first_carried(function: ast.FunctionDef, values: list[ast.expr]) -> str:
    """The argument that the first of these values is made of, of those that are made of one: the function is read once for all."""
    origins, done = _Origins(function), 0
    statements = list(_statements(function))
    ends = list(accumulate((each.lineno for each in statements), max))
    found: dict[int, str] = {}
    for end, place in sorted((bisect.bisect_left(ends, value.lineno), place) for place, value in enumerate(values)):
        for statement in statements[done:end]:
            origins.go_past(statement)
        done = end
        found[place] = origins.argument_of(values[place])
    return next((name for _, name in sorted(found.items()) if name), "")


class _Origins:
    """Which names are plain arithmetic of which argument, from statement to statement."""

    def __init__(self, function: ast.FunctionDef) -> None:
        arguments = function.args
        names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        losses = [name for name in names if looks_like_loss(name)]
        self._of = {name: name for name in losses or [each for each in names if not _is_no_loss(each)]}
        self._way: list[tuple[str, Assignment]] = []

    def go_past(self, statement: ast.stmt) -> None:
        origins = self._of
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=given) if name := _carried(given, origins):
                origins[target] = origins[name]
                self._way.append((name, statement))
            case ast.AugAssign(target=ast.Name(id=target), value=given) if target in origins and not (
                _names_in(given) & origins.keys()
            ):
                self._way.append((target, statement))
            case _:
                for name in _stored(statement) if origins else ():
                    origins.pop(name, None)

    def argument_of(self, value: ast.expr) -> str:
        return self._of.get(_carried(value, self._of), "")

    def carried(self, value: ast.expr) -> Carried:
        name = _carried(value, self._of)
        origin = self._of.get(name, "")
        return Carried(origin, name, [each for each in self._way if self._of.get(each[0]) == origin] if origin else [])


def _is_no_loss(name: str) -> bool:
    """`model.log_prob(x).mean()` is computed here, and `model` is what computes it."""
    return name in ("self", "cls") or looks_like_network(name)


def _names_in(node: ast.AST) -> set[str]:
    return {each.id for each in walk(node) if type(each) is ast.Name}


def _carried(value: ast.expr, origins: Mapping[str, str], is_single: bool = False) -> str:
    """The name among `origins` that the value is computed from, where nothing else in it is one of them: `is_single` if that is known."""
    match value:
        case ast.Name(id=name):
            return name if name in origins else ""
        case ast.UnaryOp(operand=inner):
            return _carried(inner, origins, is_single)
        case ast.BinOp(left=left, right=right):
            if not is_single and len(_names_in(value) & origins.keys()) != 1:
                return ""
            name = _carried(left, origins, True) or _carried(right, origins, True)
            is_by_number = isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
            return name if is_by_number or looks_like_loss(name) else ""  # `x * self.scale`: an input and a weight
        case ast.Call(func=ast.Attribute(attr=name), args=[inner], keywords=[]) if name == SCALE:
            return _carried(inner, origins, is_single)
        case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name not in CUT:
            return _carried(owner, origins, is_single)
    return ""


def _differentiated(function: ast.FunctionDef, known: Mapping[str, list[Differentiated]]) -> Iterator[ast.expr]:
    """What is differentiated by the function itself, or by a known one that it calls."""
    for statement in _statements(function):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name, value=owner), args=given)) if name == BACKWARD:
                yield owner
                yield from given[:1]
        for call in (each for each in children_of(statement) if isinstance(each, ast.Call)):
            for asked in known.get(called_name(call), ()):
                if (argument := given_argument(call, asked)) is not None:
                    yield argument


def called_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def given_argument(call: ast.Call, asked: Differentiated) -> ast.expr | None:
    """What a call gives for the argument; None if that can't be told."""
    named = [each.value for each in call.keywords if each.arg == asked.name]
    before = call.args[: asked.place + 1] if asked.place >= 0 else []
    if any(isinstance(each, ast.Starred) for each in before):
        return None
    return named[0] if named else before[asked.place] if len(before) > asked.place >= 0 else None


def _statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """In the order of the text, without those of functions inside of it."""
    stack = list(reversed(function.body))
    while stack:
        statement = stack.pop()
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield statement
        inner = [each for each in children_of(statement) if isinstance(each, ast.stmt | ast.ExceptHandler)]
        stack += [each for each in reversed(inner) if isinstance(each, ast.stmt)]
        for handler in (each for each in inner if isinstance(each, ast.ExceptHandler)):
            stack += reversed(handler.body)


def _stored(statement: ast.stmt) -> Iterator[str]:
    for node in children_of(statement):
        for each in walk(node) if isinstance(node, ast.expr) else ():
            if type(each) is ast.Name and type(each.ctx) is ast.Store:
                yield each.id
