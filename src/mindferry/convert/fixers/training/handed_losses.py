"""A loss that another function differentiates: `update(optimizer, loss)`. Its gradients are taken where it is computed, and go along with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from .... import findings
from ....read.differentiated_arguments import (
    CALL,
    Assignment,
    Carried,
    Differentiated,
    by_function,
    carried_argument,
    given_argument,
)
from ....read.guesses import may_be_instance
from ....read.uses import Use
from ...facts import Facts
from ...plan import AtEnd, Change, Edit, ReplaceNode, Texts, claim
from . import graph_from_caller

if TYPE_CHECKING:
    from .steps import Called

SIMPLE = ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return
SIGNS: dict[type[ast.operator], str] = {ast.Div: "/", ast.Mult: "*", ast.Add: "+", ast.Sub: "-"}
SETTINGS = frozenset({"retain_graph", "create_graph"})


def losses(facts: Facts) -> Iterator[tuple[SIMPLE, ast.expr]]:
    """Each statement that hands a loss of its own function to one that differentiates it, and the loss."""
    for call, loss in facts.derived(_handed):
        statement = facts.statement_of(call)
        if isinstance(statement, SIMPLE) and graph_from_caller.brings_graph(facts, call, loss):
            yield statement, loss


def passed_on(facts: Facts, done: set[ast.stmt]) -> list[Change]:
    """What functions make of a loss that they were given themselves, and hand on; `done` are statements that others have changed so."""
    found: list[Change] = []
    for call, loss in facts.derived(_handed):
        function = facts.enclosing(call, ast.FunctionDef, ast.AsyncFunctionDef)
        if not isinstance(function, ast.FunctionDef) or not _is_called(facts, function):
            continue
        carried = carried_argument(function, loss)
        if not carried.argument or not _can_be_carried(carried):
            continue
        found += _carrying(carried, done)
        if not isinstance(loss, ast.Name):
            found.append(AtEnd(partial(_carry_value, carried.name, loss)))
    return found


def unclear(facts: Facts) -> list[Change]:
    """Calls that surely differentiate what they are given, where nothing tells what that is computed from."""
    found: list[Change] = []
    for call, loss in facts.derived(_handed):
        function = facts.enclosing(call, ast.FunctionDef, ast.AsyncFunctionDef)
        is_passed_on = isinstance(function, ast.FunctionDef) and bool(carried_argument(function, loss).argument)
        is_tensor = facts.reading.type(loss).kind not in ("int", "float", "bool", "str")
        if (
            is_tensor
            and _is_certain(facts, call)
            and not is_passed_on
            and not graph_from_caller.brings_graph(facts, call, loss)
        ):
            message = f"{facts.source.text(call.func)} differentiates {facts.source.text(loss)}, and where that is computed can't be seen from here"
            found.append(facts.found(call, findings.MF201, message, graph_from_caller.ADVICE))
    return found


def _is_certain(facts: Facts, call: ast.Call) -> bool:
    """A function, or a method of an object whose class is known."""
    match call.func:
        case ast.Name():
            return facts.reading.type(call.func).kind != "unknown"
        case ast.Attribute(value=owner):
            return facts.reading.type(owner).kind == "instance"
    return False


def _handed(facts: Facts) -> list[tuple[ast.Call, ast.expr]]:
    """Calls of functions that differentiate an argument, and what they are given for it."""
    known = by_function(facts.reading.symbols.differentiated)
    if not known or facts.settings.record_graphs:
        return []
    found = []
    for call in [*facts.source.calls_named(*known), *_calls_of_objects(facts, known)]:
        given = [given_argument(call, asked) for asked in _answering(facts, call, known)]
        found += [(call, loss) for loss in given[:1] if loss is not None and not _is_network(facts, loss)]
    return found


def _is_network(facts: Facts, given: ast.expr) -> bool:
    """`update(flow, x)`: the loss is computed by what is given, where it is differentiated."""
    kind = facts.reading.type(given)
    return kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)


def _calls_of_objects(facts: Facts, known: dict[str, list[Differentiated]]) -> Iterator[ast.Call]:
    """`loss_scaler(loss, optimizer)`: an object of a class whose objects differentiate what they are called with."""
    classes = {each.function: each.owner for group in known.values() for each in group if each.is_of_objects}
    if not classes:
        return
    for call in facts.source.of(ast.Call):
        kind = facts.reading.type(call.func)
        if kind.kind == "instance" and kind.qual in classes.values():
            yield call
        elif kind.kind == "unknown" and isinstance(call.func, ast.Name | ast.Attribute):
            name = facts.source.text(call.func)
            if any(may_be_instance(name, each) for each in classes):
                yield call


def _answering(facts: Facts, call: ast.Call, known: dict[str, list[Differentiated]]) -> list[Differentiated]:
    """Those that the call may reach: of a receiver that is known, its own class's."""
    symbols, kind = facts.reading.symbols, facts.reading.type(call.func)
    everything = [each for group in known.values() for each in group]
    if kind.kind == "instance":
        return [each for each in everything if each.owner == kind.qual]
    match call.func:
        case ast.Attribute(attr=name, value=owner) if name in known:
            held = facts.reading.type(owner)
            if held.kind != "instance":
                return known[name]
            family = {held.qual, *symbols.bases(held.qual)}
            return [each for each in known[name] if each.owner in family or held.qual in symbols.bases(each.owner)]
        case ast.Name(id=name) if name in known:
            return [each for each in known[name] if not each.owner]
    name = facts.source.text(call.func)
    return [each for each in everything if each.is_of_objects and may_be_instance(name, each.function)]


def taken(facts: Facts, called: Called, done: set[ast.stmt]) -> list[Change]:
    """The backward() of a loss that callers hand over: it adds the gradients that came along; [] where nobody does so."""
    function = facts.enclosing(called.statement, ast.FunctionDef, ast.AsyncFunctionDef)
    if not isinstance(function, ast.FunctionDef) or not _is_called(facts, function):
        return []
    if called.call.args or {each.arg for each in called.call.keywords} - SETTINGS:
        return []
    carried = carried_argument(function, called.loss)
    if not carried.argument or not _can_be_carried(carried):
        return []
    asks = [each for each in called.call.keywords if each.arg == "create_graph"]
    if any(isinstance(each.value, ast.Constant) and each.value.value for each in asks):
        return []
    assert isinstance(called.statement, ast.Expr) and isinstance(called.statement.value, ast.Call)
    call = called.statement.value
    return [
        claim(call, call.func),
        AtEnd(partial(_take, call, called.loss, carried.name, asks)),
        facts.record(
            called.statement,
            facts.uses.name(Use.BACKWARD),
            facts.source.text(called.statement),
            lambda texts: texts.of(call),
        ),
        *_carrying(carried, done),
    ]


def _carrying(carried: Carried, done: set[ast.stmt]) -> list[Change]:
    """Two branches may each differentiate what one statement before them makes."""
    found: list[Change] = [AtEnd(partial(_carry, name, each)) for name, each in carried.way if each not in done]
    done.update(each for _, each in carried.way)
    return found


def _can_be_carried(carried: Carried) -> bool:
    return all(type(each.op) in SIGNS for _, each in carried.way if isinstance(each, ast.AugAssign))


def _is_called(facts: Facts, function: ast.FunctionDef) -> bool:
    owner = facts.parents.get(function)
    is_of_objects = function.name == CALL and isinstance(owner, ast.ClassDef)
    name = owner.name if is_of_objects and isinstance(owner, ast.ClassDef) else function.name
    return name in facts.reading.symbols.called_with_losses


def _take(call: ast.Call, loss: ast.expr, name: str, asks: list[ast.keyword], texts: Texts) -> Iterator[Edit]:
    text = texts.of(loss)
    if not isinstance(loss, ast.Name):
        text = _carried(name, text, texts)
    options = "".join(f", create_graph={texts.of(each.value)}" for each in asks)
    yield ReplaceNode(call, f"{texts.name('compat.take_gradients')}({text}{options})")


def _carry(name: str, statement: Assignment, texts: Texts) -> Iterator[Edit]:
    """`loss = loss / 2`: what it makes of the loss, it makes of the gradients."""
    text = texts.of(statement.value)
    if isinstance(statement, ast.AugAssign):
        computed = f"{name} {SIGNS[type(statement.op)]} {text if isinstance(statement.value, ast.Name | ast.Constant) else f'({text})'}"
        yield ReplaceNode(statement, f"{name} = {_carried(name, computed, texts)}")
    elif not isinstance(statement.value, ast.Name):
        yield from _carry_value(name, statement.value, texts)


def _carry_value(name: str, value: ast.expr, texts: Texts) -> Iterator[Edit]:
    yield ReplaceNode(value, _carried(name, texts.of(value), texts))


def _carried(name: str, computed: str, texts: Texts) -> str:
    return f"{texts.name('compat.carried')}({name}, lambda {name}: {computed})"
