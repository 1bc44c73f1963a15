"""`self.optimizer = optim.Adam(self.parameters())` in a network: MindSpore's optimizers are cells, and would become a part of it.

Its parameters, its state and its checkpoint would be the network's too. In the object's `__dict__` it is a plain attribute, as in torch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.framework import Role
from ...read.guesses import looks_like_optimizer
from ..facts import Facts
from ..plan import Change, ReplaceNode


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name, value=ast.Name() as owner) as target], value=value):
                if _is_network(facts, owner) and _is_optimizer(facts, name, value):
                    yield ReplaceNode(target, f"{owner.id}.__dict__[{name!r}]")


def _is_network(facts: Facts, owner: ast.Name) -> bool:
    kind = facts.reading.type(owner)
    return kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual)


def _is_optimizer(facts: Facts, name: str, value: ast.expr) -> bool:
    kind = facts.reading.type(value)
    if kind.kind == "instance":
        return facts.reading.symbols.role(kind.qual) is Role.OPTIMIZER
    return kind.kind == "unknown" and isinstance(value, ast.Call) and looks_like_optimizer(name)
