"""What a file asks for its parameters, and what it makes: `flow` of `Adam(flow.parameters())` is a network, whatever it is called."""

from __future__ import annotations

import ast

from ....read.guesses import looks_like_class
from ...facts import Facts
from . import flow


def gives_parameters(facts: Facts, node: ast.expr) -> bool:
    """Whether the function, or the file where there is none, asks it for its parameters; nothing else may be known of it."""
    if facts.reading.type(node).kind != "unknown" or not flow.key(node):
        return False
    scope = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    return any(
        flow.key(each.value) == flow.key(node) and facts.is_within(each, scope)
        for each in facts.source.members.get("parameters", ())
    )


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
