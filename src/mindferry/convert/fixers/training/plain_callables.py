"""What is called by a name of which no type is known, and runs no network all the same: builtins, named tuples, lambdas."""

from __future__ import annotations

import ast
import builtins

from ....read.walk import walk_again as walk
from ...facts import Facts
from . import flow
from .asked_parameters import is_network


def makes_no_gradient(facts: Facts, name: str) -> bool:
    is_builtin = hasattr(builtins, name) and name not in facts.reading.scope.names
    return is_builtin or name in facts.derived(_named_tuples) or _is_plain_lambda(facts, name)


def is_function(facts: Facts, body: list[ast.stmt], name: str) -> bool:
    """Something that is called and no network: value_and_grad refuses partial functions, lambdas and other objects among its arguments."""
    called = {call.func for statement in body for call in walk(statement) if isinstance(call, ast.Call)}
    kinds = [facts.reading.type(node) for node in called if flow.key(node) == name]
    return bool(kinds) and not any(
        kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual) for kind in kinds
    )


def _named_tuples(facts: Facts) -> set[str]:
    return {
        target.id
        for node in facts.source.tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and facts.source.text(node.value.func).rpartition(".")[2] in ("namedtuple", "NamedTuple")
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_plain_lambda(facts: Facts, name: str) -> bool:
    """`t = lambda *size: torch.rand(*size)`: it names no network, and calls nothing that could be one."""
    made = [parent.value for node in facts.stores(name) if isinstance(parent := facts.parents.get(node), ast.Assign)]
    if not made or len(made) < len(facts.stores(name)):
        return False
    return all(isinstance(each, ast.Lambda) and _is_plain(facts, each) for each in made)


def _is_plain(facts: Facts, made: ast.Lambda) -> bool:
    for node in walk(made.body):
        if isinstance(node, ast.Name | ast.Attribute) and is_network(facts, node):
            return False
        if isinstance(node, ast.Call) and facts.reading.type(node.func).kind in ("instance", "unknown"):
            is_method = isinstance(node.func, ast.Attribute) and facts.reading.type(node.func).kind == "unknown"
            if not is_method or "self" in {each.id for each in walk(node.func) if isinstance(each, ast.Name)}:
                return False
    return True
