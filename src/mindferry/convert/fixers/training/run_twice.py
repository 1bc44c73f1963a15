"""What runs twice for two losses: it must give the same twice, and what it gave the first time stays."""

from __future__ import annotations

import ast

from ....read.walk import walk_again as walk
from ...facts import Facts
from ...refused import Refused
from . import flow, sources
from .scope_parts import simple_parts
from .steps import Backward

SAME_TWICE = frozenset(
    "to cuda cpu float half double long int bool contiguous type detach view reshape flatten requires_grad_ detach_".split()
)


class Lifted:
    """Those that have found their place, by the statements that they take along."""

    def __init__(self) -> None:
        self.all: list[Backward] = []
        self.retained: set[ast.stmt] = set()
        self._by_statement: dict[ast.stmt, list[int]] = {}

    def add(self, each: Backward) -> None:
        for statement in each.lifted:
            self._by_statement.setdefault(statement, []).append(len(self.all))
        self.retained.update(each.retained)
        self.all.append(each)

    def sharing(self, statements: list[ast.stmt]) -> list[Backward]:
        """Those that take one of the statements along too."""
        return [self.all[index] for index in sorted({i for s in statements for i in self._by_statement.get(s, ())})]


def are_alternatives(first: Backward, second: Backward) -> bool:
    """Only one of them runs: they begin at one place, under conditions that exclude each other."""
    opposite = {(id(test), not holds) for test, holds in first.guards}
    return first.place is second.place and any((id(test), holds) in opposite for test, holds in second.guards)


def check_repeated(facts: Facts, each: Backward, others: Lifted) -> None:
    """What runs twice must give the same twice: networks do, but for dropout; a random draw or an iterator doesn't."""
    shared = [
        statement
        for other in others.sharing(each.lifted)
        if other.scope is each.scope and not are_alternatives(each, other)
        for statement in other.lifted
        if statement in each.lifted
    ]
    each.repeated += [
        statement
        for statement in dict.fromkeys(shared)
        if statement not in each.retained and statement not in others.retained and statement not in each.repeated
    ]
    needed = set(flow.read_before_written(facts, [*each.lifted, *each.losses]))
    twice = dict.fromkeys([*each.retained, *shared])
    once = (statement for statement in each.lifted if statement not in twice)
    each.bound_before = set().union(*map(flow.writes, twice)) - set().union(*map(flow.writes, once))
    for statement in twice:
        if changed := sorted(_changed(statement) & needed):
            raise Refused(
                f"line {statement.lineno} changes {changed[0]} after it has been read, and it is needed by this loss and by other "
                "statements, so it would run twice: give what it makes another name"
            )
        for node in walk(statement):
            if isinstance(node, ast.Call) and not _repeats(facts, node):
                raise Refused(
                    f"line {statement.lineno} is needed by it and by other statements, but running `{facts.source.text(node)}` "
                    "twice may give something else: put that value in a variable first"
                )


def _changed(statement: ast.stmt) -> set[str]:
    """What is another value after the second time: not by `x = x.to(device)`, nor by `x.requires_grad_()`."""
    parts = [part for part in simple_parts([statement]) if not _is_idempotent(part)]
    return set().union(*map(flow.writes, parts))


def _is_idempotent(part: ast.AST) -> bool:
    match part:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name in SAME_TWICE
        case ast.Assign(targets=[target], value=ast.Call(func=ast.Attribute(attr=name, value=owner))):
            return name in SAME_TWICE and bool(flow.key(target)) and flow.key(target) == flow.key(owner)
    return False


def _repeats(facts: Facts, call: ast.Call) -> bool:
    is_of_object = _is_of_object(facts, call)
    if sources.calls_network(facts, call) and not is_of_object:
        return True
    name = (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )
    is_random = any(
        word in name
        for word in ("rand", "normal", "bernoulli", "multinomial", "dropout", "uniform", "sample", "shuffle", "noise")
    )
    is_next = is_of_object and any(word in name for word in ("batch", "fetch", "next", "draw", "pop"))
    return not is_random and not is_next and name not in ("next", "pop", "popleft", "get_batch")


def _is_of_object(facts: Facts, call: ast.Call) -> bool:
    """`buffer.sample(8)`: a method of something of the project's that may hold a network, and is none."""
    owner = facts.reading.type(call.func.value) if isinstance(call.func, ast.Attribute) else None
    return owner is not None and owner.kind == "instance" and not facts.reading.symbols.is_module(owner.qual)
