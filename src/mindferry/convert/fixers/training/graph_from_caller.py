"""A graph that was begun elsewhere: by another method, which left it on `self`, or by the caller, who passes it in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ....read.walk import children_of
from ....read.walk import walk_again as walk
from ...facts import Facts
from .. import detach_no_grad_results
from ..bindings import Names
from . import flow, sources
from .asked_parameters import is_network, is_used_as_object

MARK = "was computed elsewhere, with a graph that can't be seen from here"
ADVICE = (
    "compute the loss and what it depends on in one function and differentiate that: "
    "`def forward_fn(x, y): out = model(x); return criterion(out, y)`, "
    "`loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(x, y)`"
)
WITHOUT_GRAPH = detach_no_grad_results.NUMBERS - {"none"}  # what a method gives that is left to subclasses
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Method = ast.FunctionDef | ast.AsyncFunctionDef


def begun_elsewhere(facts: Facts, loss: ast.expr, lifted: list[ast.stmt], scope: ast.AST) -> str:
    """Which value of the loss brings a graph from outside of this function, naming the line; '' if none does."""
    if not isinstance(scope, FUNCTIONS):
        return ""
    read = {name for part in (*lifted, loss) for name in flow.reads(part, with_gradient=True)}
    own = set().union(*(flow.writes(each) for each in lifted)) if lifted else set()
    owner = facts.enclosing(scope, ast.ClassDef)
    called = {flow.key(node.func) for part in (*lifted, loss) for node in walk(part) if isinstance(node, ast.Call)}
    wanted = {name for name in read - own - called if name.startswith("self.")}  # what is called is no tensor
    if owner is not None and wanted:
        left = _left_on_self(facts, owner, scope, wanted)
        for name in sorted(wanted & set(left)):
            return f"{name} (line {left[name]}) {MARK}"
    arguments = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)]
    for name in arguments:
        if (
            name not in read
            or not _keeps_argument(facts, name, scope, lifted)
            or is_used_as_object(facts, scope.body[0], name)
        ):
            continue
        if line := _passed_in(facts, scope, name):
            return f"{name}, as line {line} passes it, {MARK}"
    return ""


def _keeps_argument(facts: Facts, name: str, scope: ast.AST, lifted: list[ast.stmt]) -> bool:
    """Whether the name still is what the caller gave when the loss reads it; `x = head(x)` reads that x too."""
    stores = facts.bound_within(name, scope)
    if any(not any(facts.is_within(node, each) for each in lifted) for node in stores):
        return False
    return not stores or name in flow.read_before_written(facts, lifted)


def _left_on_self(facts: Facts, owner: ast.AST, scope: ast.AST, wanted: set[str]) -> dict[str, int]:
    """`self.out = self.net(x)` in the other methods: attribute -> line. Of those `wanted`, and what they are computed from."""
    found: dict[str, int] = {}
    methods = _methods_behind(facts, owner, scope, wanted)
    for _ in range(3):  # an attribute may be computed from another one
        for method in methods:
            carrying = set(found)
            for each in _assigned_in(facts, method):
                if each.is_source or each.read & carrying:
                    carrying |= each.tensors
                    found |= {
                        name: each.line for name in each.tensors if name.startswith("self.") and name not in found
                    }
                elif each.is_plain:
                    carrying -= each.written
    return found


def _methods_behind(facts: Facts, owner: ast.AST, scope: ast.AST, wanted: set[str]) -> list[Method]:
    """The class' other methods that have a say in what the attributes hold, in the order of the text."""
    known = facts.derived(_known_writers)
    if owner not in known:
        known[owner] = _writers(facts, owner)
    writers = known[owner]
    reached: set[tuple[Method, str]] = set()
    waiting = [(method, name) for name in wanted for method in writers.get(name, {})]
    while waiting:
        method, name = waiting.pop()
        if method is scope or (method, name) in reached:
            continue
        reached.add((method, name))
        for read in {read for each in writers[name][method] for read in each.read}:
            homes = writers.get(read, {})
            waiting += [(each, read) for each in (homes if read.startswith("self.") else {method} & homes.keys())]
    return sorted({method for method, _ in reached}, key=facts.source.start)


def _writers(facts: Facts, owner: ast.AST) -> Writers:
    found: Writers = {}
    for method in children_of(owner):
        if isinstance(method, FUNCTIONS) and method.name != "__init__":
            for each in _assigned_in(facts, method):
                for name in each.written:
                    found.setdefault(name, {}).setdefault(method, []).append(each)
    return found


def _known_writers(facts: Facts) -> dict[ast.AST, Writers]:
    return {}


@dataclass(frozen=True, slots=True)
class _Assigned:
    """An assignment, as far as it matters to where a graph goes."""

    line: int
    is_source: bool  # a graph starts in it
    read: frozenset[str]  # with their gradient
    written: frozenset[str]
    tensors: set[str]  # those of them that are no objects
    is_plain: bool  # what the names held before is gone


Writers = dict[str, dict[Method, list[_Assigned]]]  # by name and method: the assignments to it


def _assigned_in(facts: Facts, method: Method) -> list[_Assigned]:
    """In the order of the text; none where the method computes without gradients. Asked for by every backward() of a class."""
    known = facts.derived(_known_assignments)
    if method not in known:
        is_off = detach_no_grad_results.is_without_gradients(facts, method)
        known[method] = (
            [] if is_off else [_assigned(facts, each) for each in _statements(method) if _assigns(facts, each)]
        )
    return known[method]


def _known_assignments(facts: Facts) -> dict[ast.AST, list[_Assigned]]:
    return {}


def _assigns(facts: Facts, statement: ast.stmt) -> bool:
    statement = facts.as_read(statement)
    is_assignment = isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign)
    return is_assignment and getattr(statement, "value", None) is not None


def _assigned(facts: Facts, statement: ast.stmt) -> _Assigned:
    value: ast.expr = statement.value  # type: ignore[attr-defined]
    written = flow.writes(statement)
    return _Assigned(
        statement.lineno,
        sources.carries(facts, value),
        flow.reads(value, with_gradient=True),
        written,
        {name for name in written if not _is_object(facts, statement, name)},
        isinstance(facts.as_read(statement), ast.Assign),
    )


def _statements(method: ast.AST) -> list[ast.stmt]:
    """In the order of the text, without what stands under no_grad."""
    found: list[ast.stmt] = []
    stack = [each for each in reversed(list(children_of(method))) if isinstance(each, ast.stmt)]
    while stack:
        statement = stack.pop()
        if isinstance(statement, FUNCTIONS) or flow.is_cut(statement):
            continue
        found.append(statement)
        parts = (each for each in children_of(statement) if isinstance(each, ast.stmt | ast.ExceptHandler))
        stack += reversed(list(parts))  # type: ignore[arg-type]
    return found


def _is_object(facts: Facts, statement: ast.stmt, name: str) -> bool:
    """A network, an optimizer: no tensor."""
    for node in walk(facts.as_read(statement)):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and flow.key(node) == name:
            return facts.reading.type(node).kind in WITHOUT_GRAPH
    return False


def _passed_in(facts: Facts, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> int:
    """The line of a call in this file whose argument carries a graph; 0 if none does."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    is_method = bool(names) and names[0] == "self"
    for call in _calls_of(facts, function, is_method):
        position = names.index(name) - is_method if name in names else -1
        given = [key.value for key in call.keywords if key.arg == name]
        given += [call.args[position]] if 0 <= position < len(call.args) else []
        if any(brings_graph(facts, call, each) for each in given):
            return call.lineno
    return 0


def _calls_of(facts: Facts, function: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool) -> list[ast.Call]:
    """Those that may reach it, in the order of the text; `loss_compute(out, y)` those of a `__call__`."""
    if not is_method:
        return [call for call in facts.source.calls_named(function.name) if not isinstance(call.func, ast.Attribute)]
    known, owner = facts.derived(_known_calls), facts.enclosing(function, ast.ClassDef)
    if function.name not in known:
        known[function.name] = _CallsOfMethod(facts, function.name)
    return known[function.name].reaching(facts.reading.owners.get(owner, "") if owner is not None else None)


def _known_calls(facts: Facts) -> dict[str, _CallsOfMethod]:
    return {}


class _CallsOfMethod:
    """By the class of the object: `critic.update(target)` beside the `update` of an actor is known to be no call of that."""

    def __init__(self, facts: Facts, name: str) -> None:
        self._source, self._bases, self._is_of_object = facts.source, facts.reading.symbols.bases, name == "__call__"
        self._of_unknown: list[ast.Call] = []
        self._of_class: dict[str, list[ast.Call]] = {}
        self._of_heirs: dict[str, list[ast.Call]] = {}  # by each of the bases of its class
        for call, owner in self._called(name):
            kind = facts.reading.type(owner)
            if kind.kind == "instance":
                self._of_class.setdefault(kind.qual, []).append(call)
                for base in dict.fromkeys(self._bases(kind.qual)):
                    self._of_heirs.setdefault(base, []).append(call)
            elif not self._is_of_object or _is_argument(facts, owner):
                self._of_unknown.append(call)

    def _called(self, name: str) -> Iterator[tuple[ast.Call, ast.expr]]:
        if self._is_of_object:
            yield from ((call, call.func) for call in self._source.of(ast.Call))
            return
        for call in self._source.calls_named(name):
            if isinstance(call.func, ast.Attribute):
                yield call, call.func.value

    def reaching(self, owner: str | None) -> list[ast.Call]:
        """Those that may reach the method of this class; None where it stands in none."""
        found = set(self._of_unknown)
        if owner is not None:
            found |= {*self._of_class.get(owner, ()), *self._of_heirs.get(owner, ())}
        inherited = () if self._is_of_object else self._of_class if owner is None else self._bases(owner)
        found |= {call for each in inherited for call in self._of_class.get(each, ())}
        return self._source.in_tree_order(found)


def _is_argument(facts: Facts, called: ast.expr) -> bool:
    """Something that is called may be an object of any class: an argument of which nothing is known."""
    if facts.reading.type(called).kind != "unknown" or not isinstance(called, ast.Name):
        return False
    return facts.derived(Names).binding(called).how == "argument" and not is_network(facts, called)


def brings_graph(facts: Facts, call: ast.Call, given: ast.expr) -> bool:
    if facts.reading.type(given).kind in WITHOUT_GRAPH:
        return False
    if sources.carries(facts, given):
        return True
    statement = facts.statement_of(call)
    if isinstance(given, ast.Name) and is_used_as_object(facts, statement, given.id):
        return False
    scope = facts.enclosing(statement, *FUNCTIONS) or facts.source.tree
    carrying: set[str] = set()
    for each in map(facts.as_read, _statements(scope)):
        if each.lineno >= statement.lineno:
            break
        if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) and each.value is not None:
            if sources.carries(facts, each.value) or flow.reads(each.value, with_gradient=True) & carrying:
                carrying |= {written for written in flow.writes(each) if not _is_object(facts, each, written)}
            elif isinstance(each, ast.Assign):
                carrying -= flow.writes(each)
    return bool(flow.reads(given, with_gradient=True) & carrying)
